#pragma once

#include <cstdint>
#include <vector>

#include "compiler/schedule/schedule.h"

namespace padlock::compiler {

/// Of a schedule for the host: what its divisions by sizes assume in order to be done in 32 bits: that the sizes and
/// extents that occur in them are at most 2^30, or somewhat less where they are multiplied. Empty where nothing is
/// divided by a size, or where what is known of the sizes suffices.
[[nodiscard]] Index32Variant division_index32_variant(const Schedule& schedule);

/// Of a schedule for a GPU: the same for all its indices.
[[nodiscard]] Index32Variant index32_variant_of(const Schedule& schedule);

/// Chooses between the two by what the schedule is for.
[[nodiscard]] Index32Variant narrowing_of(const Schedule& schedule);

/// Whether all that such a schedule computes fits 32 bits, given that its sizes lie between -bound and bound.
[[nodiscard]] bool indices_fit(const Schedule& schedule, const std::vector<ir::Expr>& sizes, std::int64_t bound);

/// The divisions of its schedule's narrowing that a body does.
[[nodiscard]] std::vector<ir::Expr> narrowed_in(const Schedule& schedule, const Body& body);

}  // namespace padlock::compiler
