#pragma once

#include <cstdint>
#include <optional>

#include "ir/operation.h"

namespace padlock::ir {

/// One axis of a pad, in elements. low and high may have any sign; interior is 0 unless mode is constant.
struct PadAxis {
  PadMode mode = PadMode::constant;
  std::int64_t extent = 0;  // of the operand, >= 0
  std::int64_t low = 0;
  std::int64_t interior = 0;
};

/// Returns the operand's coordinate for result coordinate `o`, or nullopt for the fill, by the language's closed forms.
/// Handles any width, number of laps and sign without overflow. Modes other than constant return nullopt for an empty
/// operand axis; there the language admits only empty results.
[[nodiscard]] std::optional<std::int64_t> pad_source(const PadAxis& axis, std::int64_t o);

}  // namespace padlock::ir
