#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/binding.h"
#include "ir/executable.h"
#include "tests/differential/guarded_run.h"

namespace padlock::differential {

using Kernels = std::vector<std::unique_ptr<ir::HostExecutable>>;

/// Random inputs, and what the interpreter makes of them; the program and the binding must outlive it.
[[nodiscard]] Result<Problem> random_problem(const ir::Program& program, const ir::Binding& binding, Rng& rng);

/// Runs all kernels as guarded_run.h says, by their entries: in one piece or in several. A bounds-check fault is a
/// failure too.
[[nodiscard]] std::string check_both_placements(const Kernels& kernels, const Problem& problem, GuardedArena& arena,
                                                Rng& rng);

}  // namespace padlock::differential
