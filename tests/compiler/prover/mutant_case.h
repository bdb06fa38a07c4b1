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

// A program, a config and a seeded bug: what the prover says of its kernels, and whether an execution agrees.
namespace padlock::compiler {

/// The schedules of all kernels, for a GPU where the config begins with "map=", else for the host. Error: what the
/// program's text, the config's or lowering says.
[[nodiscard]] Result<std::vector<Schedule>> schedules_of(const ir::Program& program, std::string_view config,
                                                         Mutation mutation = Mutation::none);

/// Executes a counter-example: empty where the schedule does there what the obligation says, else what is missing.
/// Where the example names a task, its columns are one task and those beside it others; what is said of tiles is
/// executed as a grid.
[[nodiscard]] std::string not_shown(const Schedule& schedule, const Obligation& refuted);
/// Executes the same sizes and tasks, and the grid: what the schedule does there that no right one does, else empty.
[[nodiscard]] std::string misdeed_at(const Schedule& schedule, const Counterexample& example);
/// Empty where nothing is refuted, checked or dead, else the first such obligation.
[[nodiscard]] std::string unproved(const Proof& proof);

}  // namespace padlock::compiler
