#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/error.h"
#include "tuner/trial/problem.h"

namespace padlock::tuner {

/// At most `most` elements of a result, as row-major indices, where a kernel that is wrong would show it: along each
/// axis both ends and both sides of where a predicate of the kernel changes its value, all of these with one another as
/// far as there is room, and random ones for half of it. Errors as compiler::lower.
[[nodiscard]] Result<std::vector<std::int64_t>> edge_and_random_elements(const Problem& problem, std::size_t result,
                                                                         std::size_t most);

}  // namespace padlock::tuner
