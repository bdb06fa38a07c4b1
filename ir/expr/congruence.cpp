#include "ir/expr/congruence.h"

namespace padlock::ir {

namespace {

Int128 gcd(Int128 a, Int128 b) {
  if (a < 0) a = -a;
  if (b < 0) b = -b;
  while (b != 0) {
    const Int128 r = a % b;
    a = b;
    b = r;
  }
  return a;
}

constexpr Int128 kLargestPowerOfTwo = Int128{1} << 62;

}  // namespace

Congruence normalized(Int128 modulus, Int128 residue) {
  if (modulus == 0 && fits_int64(residue)) return {0, static_cast<std::int64_t>(residue)};
  if (modulus == 0 || modulus > kInt64Max) modulus = gcd(modulus, kLargestPowerOfTwo);
  return {static_cast<std::int64_t>(modulus), static_cast<std::int64_t>(floor_mod(residue, modulus))};
}

Congruence congruence_of(Int128 constant) { return normalized(0, constant); }

Congruence operator+(const Congruence& a, const Congruence& b) {
  return normalized(gcd(a.modulus, b.modulus), Int128{a.residue} + b.residue);
}

Congruence operator*(const Congruence& a, const Congruence& b) {
  const Int128 ma = a.modulus, ra = a.residue, mb = b.modulus, rb = b.residue;
  // (ma*k + ra) * (mb*l + rb): everything but ra*rb is a multiple of one of three products, each below 2^126.
  return normalized(gcd(gcd(ma * mb, ma * rb), mb * ra), ra * rb);
}

Congruence floordiv(const Congruence& a, const Congruence& d) {
  if (d.modulus != 0 || d.residue < 1) return {};
  const Int128 divisor = d.residue;
  if (a.modulus % divisor != 0) return {};
  return normalized(a.modulus / divisor, floor_div<Int128>(a.residue, divisor));
}

Congruence mod(const Congruence& a, const Congruence& d) {
  if (a.modulus == 0 && d.modulus == 0 && d.residue >= 1) return congruence_of(floor_mod<Int128>(a.residue, d.residue));
  // a mod d equals a minus a multiple of d, which is a multiple of gcd(d.modulus, d.residue).
  const Int128 g = gcd(a.modulus, gcd(d.modulus, d.residue));
  return g == 0 ? Congruence{} : normalized(g, a.residue);
}

Congruence join(const Congruence& a, const Congruence& b) {
  const Int128 g = gcd(gcd(a.modulus, b.modulus), Int128{a.residue} - b.residue);
  return normalized(g, a.residue);
}

}  // namespace padlock::ir
