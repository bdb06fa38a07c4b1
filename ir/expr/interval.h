#pragma once

#include <algorithm>

#include "ir/expr/expr.h"

// Interval arithmetic on Range. Sound for exact integer arithmetic: a bound that leaves +-2^126 becomes "not known" on
// its side, and an unknown side stays unknown.
namespace padlock::ir {

/// Clamps `v` to [kMin, kMax].
[[nodiscard]] constexpr Int128 saturate(Int128 v) { return std::clamp(v, Range::kMin, Range::kMax); }

/// Adds two saturated values and saturates the sum.
[[nodiscard]] constexpr Int128 saturating_add(Int128 a, Int128 b) {
  if (const auto exact = checked_add(a, b)) return saturate(*exact);
  return Range::kMax;  // two times -2^126 is still a 128-bit number
}

/// Multiplies two saturated values and saturates the product. 0 if a factor is 0, even if the other is unknown.
[[nodiscard]] constexpr Int128 saturating_mul(Int128 a, Int128 b) {
  if (const auto exact = checked_mul(a, b)) return saturate(*exact);
  return (a < 0) == (b < 0) ? Range::kMax : Range::kMin;
}

/// Returns the largest absolute value, saturated to kMax ("not known").
[[nodiscard]] constexpr Int128 magnitude(const Range& r) { return std::max(saturate(r.hi), -saturate(r.lo)); }

[[nodiscard]] Range operator+(const Range& a, const Range& b);
[[nodiscard]] Range operator*(const Range& a, const Range& b);
[[nodiscard]] Range operator*(Int128 c, const Range& a);
/// Returns the range of x * x.
[[nodiscard]] Range square(const Range& a);
/// Return the ranges of a floordiv b and a mod b for b >= 1: the part of b's range below 1 is ignored.
[[nodiscard]] Range floordiv(const Range& a, const Range& b);
[[nodiscard]] Range mod(const Range& a, const Range& b);
[[nodiscard]] Range min(const Range& a, const Range& b);
[[nodiscard]] Range max(const Range& a, const Range& b);
/// Moves the bounds inwards to values that satisfy the congruence.
[[nodiscard]] Range tighten(const Range& a, const Congruence& c);

}  // namespace padlock::ir
