#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/pass_edits.h"
#include "compiler/pass_log.h"
#include "compiler/prover/kernel_prover.h"
#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"
#include "ir/program.h"
#include "support/error.h"

// The passes from a program to what a target may emit; pipeline.cpp names them in their order. They are the same for
// every target: only a config's ScheduleOptions differ.
namespace padlock::compiler {

/// Makes the schedules of a kernel that a launch has to choose from: one that serves all sizes, then those that serve
/// some better (Schedule::serves).
using ScheduleMaker = std::function<std::vector<Schedule>(Kernel)>;

/// Lowers a program to its kernels: the passes that no config changes. The program must outlive the kernels. Errors as
/// `gather_kernels`. Counts in `counts`, where it is given. `log`, here and below: borrowed, or null.
[[nodiscard]] Result<std::vector<Kernel>> lower(const ir::Program& program, const PassEdits* edits = nullptr,
                                                PassCounts* counts = nullptr, PassLog* log = nullptr);

/// Makes loops of a kernel as a config says; `config` is the text that the schedule keeps.
[[nodiscard]] Schedule make_schedule(Kernel kernel, std::string config, const ScheduleOptions& options);

/// Runs all passes over a program: its kernels, lowered, scheduled and proved, each in its schedules. One that serves
/// some sizes alone is left out where it is beyond the limits. Errors as `lower` and `prove`.
[[nodiscard]] Result<std::vector<std::vector<ProvenKernel>>> prove_kernels(const ir::Program& program,
                                                                           const PassEdits* edits,
                                                                           const ScheduleMaker& schedules,
                                                                           ProofCache& cache, PassLog* log = nullptr);
/// Lists the obligations of its kernels' schedules with their verdicts, refuted ones too. Some may be of a schedule for
/// which a limit leaves no code. Errors as `lower` and `list_obligations`.
[[nodiscard]] Result<std::vector<Proof>> list_proofs(const ir::Program& program, const PassEdits* edits,
                                                     const ScheduleMaker& schedules, ProofCache& cache,
                                                     PassLog* log = nullptr);

/// Prints the kernels of a program in gather form. Errors as `lower`.
[[nodiscard]] Result<std::string> kernel_text(const ir::Program& program, const PassEdits* edits);
/// Prints their schedules. Errors as `lower`.
[[nodiscard]] Result<std::string> schedule_text(const ir::Program& program, const PassEdits* edits,
                                                const ScheduleMaker& schedules);

}  // namespace padlock::compiler
