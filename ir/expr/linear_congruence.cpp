#include "ir/expr/linear_congruence.h"

#include <numeric>
#include <utility>

namespace padlock::ir {

std::optional<Congruence> solve_congruence(Int128 a, Int128 r, std::int64_t m) {
  const auto reduced = static_cast<std::int64_t>(floor_mod(a, Int128{m}));
  const auto wanted = static_cast<std::int64_t>(floor_mod(r, Int128{m}));
  const std::int64_t g = std::gcd(reduced, m);
  if (wanted % g != 0) return std::nullopt;
  const std::int64_t modulus = m / g;
  // Extended Euclid: the inverse of reduced / g modulo m / g.
  Int128 inverse = 0, next_inverse = 1, rest = modulus, next_rest = reduced / g;
  while (next_rest != 0) {
    const Int128 quotient = rest / next_rest;
    inverse = std::exchange(next_inverse, inverse - quotient * next_inverse);
    rest = std::exchange(next_rest, rest - quotient * next_rest);
  }
  const Int128 residue = floor_mod(floor_mod(inverse, Int128{modulus}) * (wanted / g), Int128{modulus});
  return Congruence{modulus, static_cast<std::int64_t>(residue)};
}

std::optional<Congruence> combine(const Congruence& a, const Congruence& b) {
  const std::int64_t g = std::gcd(a.modulus, b.modulus);
  if ((Int128{a.residue} - b.residue) % g != 0) return std::nullopt;
  if (Int128{a.modulus} / g * b.modulus > kInt64Max) return a;
  // s = a.residue + a.modulus * t, where a.modulus * t = b.residue - a.residue (mod b.modulus).
  const auto t = solve_congruence(a.modulus, Int128{b.residue} - a.residue, b.modulus);
  if (!t) return std::nullopt;
  return Congruence{a.modulus / g * b.modulus, static_cast<std::int64_t>(a.residue + Int128{a.modulus} * t->residue)};
}

bool has_value(const Range& range, const Congruence& congruence) {
  if (range.lo > range.hi) return false;
  return range.lo + floor_mod(Int128{congruence.residue} - range.lo, Int128{congruence.modulus}) <= range.hi;
}

}  // namespace padlock::ir
