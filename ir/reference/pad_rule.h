#pragma once

#include <cstdint>
#include <optional>

#include "ir/operation.h"

namespace padlock::ir {

/// One axis of a pad, as numbers of elements. low and high may have any sign; interior is 0 unless mode is constant.
struct PadAxis {
  PadMode mode = PadMode::constant;
  std::int64_t extent = 0;  // of the operand, >= 0
  std::int64_t low = 0;
  std::int64_t interior = 0;
};

/// Evaluates the language's closed forms: returns the operand's coordinate for result coordinate `o`, nullopt for the
/// fill. Total: any width, any number of laps, any sign, no overflow. Modes other than constant have no answer on an
/// empty operand axis (nullopt), where the language admits empty results alone.
[[nodiscard]] std::optional<std::int64_t> pad_source(const PadAxis& axis, std::int64_t o);

}  // namespace padlock::ir
