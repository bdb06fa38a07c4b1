#pragma once

#include "compiler/schedule.h"

namespace padlock::compiler {

/// What the divisions by sizes of a schedule's code assume in order to be done in 32 bits: that the sizes and extents
/// that occur in them are at most 2^30, or somewhat less where they are multiplied. Empty where nothing is divided by a
/// size, or where what is known of the sizes suffices.
[[nodiscard]] Narrowing narrowing_of(const Schedule& schedule);

/// The divisions of its schedule's narrowing that a body does.
[[nodiscard]] std::vector<ir::Expr> narrowed_in(const Schedule& schedule, const Body& body);

}  // namespace padlock::compiler
