#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Returns the assumptions under which a host's schedule divides by sizes in 32 bits: that the sizes and extents that
/// occur in the divisions are at most 2^30, or somewhat less where they are multiplied. Empty where nothing is divided
/// by a size, or where the known ranges of the sizes suffice. Returns the same for all indices of a GPU's schedule.
/// Gives a grid's sources their reaches. `places`: the schedule's exact indices.
[[nodiscard]] Index32Variant choose_index32_variant(Schedule& schedule, const std::vector<ExactIndices>& places);

/// Returns whether all indices of a GPU's schedule fit 32 bits, given that its sizes lie between -bound and bound.
[[nodiscard]] bool indices_fit(const Schedule& schedule, const std::vector<ir::Expr>& sizes, std::int64_t bound);

/// Returns the divisions of its schedule's 32-bit variant that occur in a body.
[[nodiscard]] std::vector<ir::Expr> index32_divisions_in(const Schedule& schedule, const Body& body);

}  // namespace padlock::compiler
