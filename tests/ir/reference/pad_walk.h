#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/operation.h"

namespace padlock::ir::testing {

/// Returns which element of an axis of `extent` stands at each coordinate of the padded axis; nullopt for the fill. It
/// walks from element to element, as the manuals' pictures show it, without the language's formulas. Precondition:
/// extent > 0 or mode constant.
inline std::vector<std::optional<std::int64_t>> pad_by_walking(PadMode mode, std::int64_t extent, std::int64_t low,
                                                               std::int64_t high, std::int64_t interior = 0) {
  const std::int64_t gaps = extent > 0 ? (extent - 1) * interior : 0;
  std::vector<std::optional<std::int64_t>> result;
  // Starts at element `at` for position 0, and steps to the first wanted position.
  std::int64_t at = 0;
  std::int64_t direction = 1;
  const auto bounce = [&](bool repeat_edge) {
    const std::int64_t next = at + direction;
    if (next >= 0 && next < extent) {
      at = next;
      return;
    }
    direction = -direction;
    if (!repeat_edge && extent > 1) at += direction;
  };
  const auto step = [&](std::int64_t position) {
    switch (mode) {
      case PadMode::edge:
        at = position < 0 ? 0 : (position < extent ? position : extent - 1);
        break;
      case PadMode::reflect:
        bounce(false);
        break;
      case PadMode::symmetric:
        bounce(true);
        break;
      default:
        at = at + direction == extent ? 0 : (at + direction < 0 ? extent - 1 : at + direction);
        break;
    }
  };
  if (mode == PadMode::constant) {
    for (std::int64_t position = -low; position < extent + gaps + high; ++position) {
      std::optional<std::int64_t> found;
      for (std::int64_t i = 0; i < extent; ++i)
        if (i * (interior + 1) == position) found = i;
      result.push_back(found);
    }
    return result;
  }
  // Backwards from 0 for the padding before the axis, then forwards from 0.
  std::vector<std::int64_t> below;
  direction = -1;
  for (std::int64_t position = -1; position >= -low; --position) {
    step(position);
    below.push_back(at);
  }
  at = 0;
  direction = 1;
  for (auto it = below.rbegin(); it != below.rend(); ++it)
    if (-(below.rend() - it) < extent + high) result.push_back(*it);
  for (std::int64_t position = 0; position < extent + high; ++position) {
    if (position > 0) step(position);
    if (position >= -low) result.push_back(at);
  }
  return result;
}

}  // namespace padlock::ir::testing
