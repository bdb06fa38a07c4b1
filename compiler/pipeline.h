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

/// Makes the schedules that a launch chooses from. The first serves all sizes; each later one serves some sizes better
/// (Schedule::serves).
using ScheduleMaker = std::function<std::vector<Schedule>(Kernel)>;

/// Lowers a program to its kernels with the passes that no config changes. The program must outlive the kernels. Errors
/// as `gather_kernels`. `counts` may be null. `log`, here and below: borrowed, or null.
[[nodiscard]] Result<std::vector<Kernel>> lower(const ir::Program& program, const PassEdits* edits = nullptr,
                                                PassCounts* counts = nullptr, PassLog* log = nullptr);

/// Turns a kernel into loops by a config; `config` is the text that the schedule keeps. The schedule is not complete,
/// and has no cover of blocks, if the options ask for one of whole rows that does not apply.
[[nodiscard]] Schedule make_schedule(Kernel kernel, std::string config, const ScheduleOptions& options);

/// Runs all passes over a program: returns the proven schedules of each kernel. A schedule for some sizes alone is left
/// out if it exceeds the limits. Errors as `lower` and `prove`.
[[nodiscard]] Result<std::vector<std::vector<ProvenKernel>>> prove_kernels(const ir::Program& program,
                                                                           const PassEdits* edits,
                                                                           const ScheduleMaker& schedules,
                                                                           ProofCache& cache, PassLog* log = nullptr);
/// Lists the obligations of all schedules with their verdicts, refuted ones too. Some may belong to a schedule that a
/// limit leaves out of the code. Errors as `lower` and `list_obligations`.
[[nodiscard]] Result<std::vector<Proof>> list_proofs(const ir::Program& program, const PassEdits* edits,
                                                     const ScheduleMaker& schedules, ProofCache& cache,
                                                     PassLog* log = nullptr);

/// Prints the kernels of a program in gather form. Errors as `lower`.
[[nodiscard]] Result<std::string> kernel_text(const ir::Program& program, const PassEdits* edits);
/// Prints the schedules of a program. Errors as `lower`.
[[nodiscard]] Result<std::string> schedule_text(const ir::Program& program, const PassEdits* edits,
                                                const ScheduleMaker& schedules);

}  // namespace padlock::compiler
