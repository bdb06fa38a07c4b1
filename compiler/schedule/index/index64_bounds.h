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

/// Returns, for those indices of `places` that ranges do not show to fit 64 bits, bounds of their sizes under which
/// they do: each between -2^k and 2^k, with the largest k that serves; and for an index that fits under no such bounds,
/// one of its magnitude (IndexMagnitude). Empty where ranges bound all, as they mostly do.
[[nodiscard]] std::vector<ir::Constraint> choose_index64_bounds(const Schedule& schedule,
                                                                const std::vector<ExactIndices>& places);

/// Returns which of the schedule's bounds those indices need to fit 64 bits, as positions of `index64_bounds`; none of
/// them can be left out. Nothing where all of them do not suffice.
[[nodiscard]] std::optional<std::vector<std::size_t>> needed_bounds(const Schedule& schedule,
                                                                    std::span<const ir::Expr> indices);

}  // namespace padlock::compiler
