#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/error.h"
#include "tuner/trial/problem.h"

namespace padlock::tuner {

/// Returns at most `most` elements of a result, as row-major indices, where a wrong kernel would show: along each axis
/// both ends, and both sides of each change of a predicate. Half of the room holds their combinations, half random
/// elements. Errors as compiler::lower.
[[nodiscard]] Result<std::vector<std::int64_t>> edge_and_random_elements(const Problem& problem, std::size_t result,
                                                                         std::size_t most);

}  // namespace padlock::tuner
