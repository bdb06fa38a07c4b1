#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "runtime/host/host_image.h"
#include "tests/differential/guarded_run.h"

namespace padlock::differential {

/// Loads code into this process. Errors: the compiler's, and those of runtime::load_image.
[[nodiscard]] inline Result<runtime::HostImage> load(Result<abi::CompiledCode> code) {
  if (!code) return std::unexpected(std::move(code).error());
  return runtime::load_image(*std::move(code));
}

/// Replaces a problem's results by what the interpreter makes of its inputs.
[[nodiscard]] Status solve(Problem& problem);

/// Draws random inputs and computes the results by the interpreter. The program and the binding must outlive it.
[[nodiscard]] Result<Problem> random_problem(const ir::Program& program, const ir::Binding& binding, testing::Rng& rng);

/// Runs all kernels as guarded_run.h says, by their entries, in one piece or in several. A bounds-check fault is also a
/// failure.
[[nodiscard]] std::string check_both_placements(const runtime::HostImage& code, const Problem& problem,
                                                GuardedArena& arena, testing::Rng& rng);

/// The same once. Buffers of a GPU's code lie whole elements away from guard pages.
[[nodiscard]] std::string check_once(const runtime::HostImage& code, const Problem& problem, GuardedArena& arena,
                                     Arrangement arrangement, testing::Rng& rng);

}  // namespace padlock::differential
