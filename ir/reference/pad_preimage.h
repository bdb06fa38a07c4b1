#pragma once

#include <cstdint>
#include <vector>

#include "ir/reference/pad_rule.h"

namespace padlock::ir {

/// Returns the coordinates of a padded axis whose source is element `source`, in ascending order. `padded` is the
/// axis's extent. These are the closed forms of the language's adjoint, for any width, number of laps and sign.
/// Precondition: 0 <= source < axis.extent.
[[nodiscard]] std::vector<std::int64_t> pad_preimages(const PadAxis& axis, std::int64_t padded, std::int64_t source);

}  // namespace padlock::ir
