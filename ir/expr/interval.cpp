#include "ir/expr/interval.h"

#include <utility>

namespace padlock::ir {

namespace {

// A lower bound is unknown only as kMin, an upper one only as kMax: a lower bound of kMax is a fact.
Int128 add_low(Int128 a, Int128 b) { return a <= Range::kMin || b <= Range::kMin ? Range::kMin : saturating_add(a, b); }
Int128 add_high(Int128 a, Int128 b) {
  return a >= Range::kMax || b >= Range::kMax ? Range::kMax : saturating_add(a, b);
}

Range positive(const Range& b) { return {std::max<Int128>(b.lo, 1), std::max<Int128>(b.hi, 1)}; }

Range clamped(const Range& a) { return {saturate(a.lo), saturate(a.hi)}; }

}  // namespace

Range operator+(const Range& a, const Range& b) {
  const Range x = clamped(a), y = clamped(b);
  return {add_low(x.lo, y.lo), add_high(x.hi, y.hi)};
}

Range operator*(const Range& a, const Range& b) {
  // A saturated bound times anything but 0 saturates again, so the corners need no case for unknown sides.
  const auto corners = {saturating_mul(saturate(a.lo), saturate(b.lo)), saturating_mul(saturate(a.lo), saturate(b.hi)),
                        saturating_mul(saturate(a.hi), saturate(b.lo)), saturating_mul(saturate(a.hi), saturate(b.hi))};
  return {std::min(corners), std::max(corners)};
}

Range operator*(Int128 c, const Range& a) {
  Range r{saturating_mul(c, saturate(a.lo)), saturating_mul(c, saturate(a.hi))};
  if (c < 0) std::swap(r.lo, r.hi);
  return r;
}

Range square(const Range& a) {
  const Range corners = a * a;
  if (a.lo >= 0 || a.hi <= 0) return corners;
  return {0, corners.hi};
}

Range floordiv(const Range& a, const Range& b) {
  const Range d = positive(clamped(b));
  const bool open = d.hi >= Range::kMax;
  Range r;
  if (a.lo > Range::kMin) r.lo = a.lo >= 0 ? (open ? 0 : a.lo / d.hi) : floor_div(a.lo, d.lo);
  if (a.hi < Range::kMax) r.hi = a.hi >= 0 ? a.hi / d.lo : (open ? -1 : floor_div(a.hi, d.hi));
  return clamped(r);
}

Range mod(const Range& a, const Range& b) {
  const Range d = positive(clamped(b));
  if (a.lo >= 0 && a.hi < d.lo) return a;
  Range r{0, d.hi >= Range::kMax ? Range::kMax : d.hi - 1};
  if (a.lo >= 0) r.hi = std::min(r.hi, a.hi);
  return r;
}

Range min(const Range& a, const Range& b) { return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)}; }
Range max(const Range& a, const Range& b) { return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)}; }

Range tighten(const Range& a, const Congruence& c) {
  if (c.modulus <= 1) return a;
  Range r = a;
  if (a.lo > Range::kMin) r.lo += floor_mod<Int128>(c.residue - a.lo, c.modulus);
  if (a.hi < Range::kMax) r.hi -= floor_mod<Int128>(a.hi - c.residue, c.modulus);
  return r.lo <= r.hi ? r : a;  // An empty range would be a symbol without values, which binding reports.
}

}  // namespace padlock::ir
