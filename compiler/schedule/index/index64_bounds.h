#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/model/schedule.h"
#include "ir/expr/constraint.h"

// Bounds that a launch may have to check for 64-bit indices. Sizes that a program does not bound, such as products of
// symbols, can lie anywhere in 128 bits. An index of such sizes is right as long as each lies within a bound.
namespace padlock::compiler {

/// Returns bounds of sizes under which the indices of `places` fit 64 bits, for indices that ranges do not show to fit.
/// Sizes lie between -2^k and 2^k, with the largest k that serves. An index that no such bounds help has a bound of its
/// magnitude (IndexMagnitude). Empty if ranges bound all indices, as they mostly do.
[[nodiscard]] std::vector<ir::Constraint> choose_index64_bounds(const Schedule& schedule,
                                                                const std::vector<ExactIndices>& places);

/// Returns the positions in `index64_bounds` of the bounds that the indices need to fit 64 bits; none can be left out.
/// Nothing if all bounds together do not suffice.
[[nodiscard]] std::optional<std::vector<std::size_t>> needed_bounds(const Schedule& schedule,
                                                                    std::span<const ir::Expr> indices);

}  // namespace padlock::compiler
