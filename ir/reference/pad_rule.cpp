#include "ir/reference/pad_rule.h"

#include <algorithm>

#include "support/int128.h"

namespace padlock::ir {
namespace {

/// In 128 bits, because o - low and 2n may exceed 64.
std::optional<Int128> constant_source(Int128 i, Int128 n, Int128 period) {
  if (i < 0 || i % period != 0 || i / period >= n) return std::nullopt;
  return i / period;
}

Int128 reflect_source(Int128 i, Int128 n) {
  const Int128 period = std::max<Int128>(2 * (n - 1), 1);
  const Int128 t = floor_mod<Int128>(i, period);
  return t < n ? t : period - t;
}

Int128 symmetric_source(Int128 i, Int128 n) {
  const Int128 t = floor_mod<Int128>(i, 2 * n);
  return t < n ? t : 2 * n - 1 - t;
}

std::optional<Int128> source(PadMode mode, Int128 i, Int128 n, Int128 interior) {
  if (mode == PadMode::constant) return constant_source(i, n, interior + 1);
  if (n == 0) return std::nullopt;
  switch (mode) {
    case PadMode::edge:
      return std::min(std::max<Int128>(i, 0), n - 1);
    case PadMode::reflect:
      return reflect_source(i, n);
    case PadMode::symmetric:
      return symmetric_source(i, n);
    default:
      return floor_mod<Int128>(i, n);  // wrap
  }
}

}  // namespace

std::optional<std::int64_t> pad_source(const PadAxis& axis, std::int64_t o) {
  const auto found = source(axis.mode, Int128{o} - axis.low, axis.extent, axis.interior);
  if (!found) return std::nullopt;
  return static_cast<std::int64_t>(*found);
}

}  // namespace padlock::ir
