#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/prover/core/proof.h"
#include "compiler/prover/kernel_prover.h"
#include "compiler/schedule/model/schedule.h"
#include "compiler/targets/host_config.h"
#include "ir/program.h"
#include "tests/compiler/seeded/mutation.h"

// A program, a config and a seeded bug: checks the prover's verdict on its kernels, and whether an execution agrees.
namespace padlock::compiler {

/// Returns the schedules of all kernels, for a GPU if the config begins with "map=", else for the host. Errors: those
/// of the program's text, the config or lowering.
[[nodiscard]] Result<std::vector<Schedule>> schedules_of(const ir::Program& program, std::string_view config,
                                                         Mutation mutation = Mutation::none);

/// Executes a counter-example. Returns empty if the schedule violates the obligation there, else what is missing. If
/// the example names a task, its columns are one task, and the columns beside it others. An example about tiles is
/// executed as a grid.
[[nodiscard]] std::string not_shown(const Schedule& schedule, const Obligation& refuted);
/// Executes the same sizes and tasks, and the grid. Returns an action that no correct schedule takes; else empty.
[[nodiscard]] std::string misdeed_at(const Schedule& schedule, const Counterexample& example);
/// Returns the first obligation that is refuted, checked or dead; empty if there is none.
[[nodiscard]] std::string unproved(const Proof& proof);

}  // namespace padlock::compiler
