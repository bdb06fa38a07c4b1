#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/error.h"
#include "tuner/trial/problem.h"

namespace padlock::tuner {

/// At most `most` elements of a result, as row-major indices, where a kernel that is wrong would show it: along each
/// axis both ends and both sides of each place where a predicate changes its value. Half of the room holds their
/// combinations, half random elements. Errors as compiler::lower.
[[nodiscard]] Result<std::vector<std::int64_t>> edge_and_random_elements(const Problem& problem, std::size_t result,
                                                                         std::size_t most);

}  // namespace padlock::tuner
