#pragma once

#include "ir/expr/expr.h"

// Arithmetic of "x is residue modulo modulus". Moduli and residues stay within 64 bits; where they would not, less is
// known.
namespace padlock::ir {

[[nodiscard]] Congruence congruence_of(Int128 constant);
/// `c` with its residue in [0, modulus).
[[nodiscard]] Congruence normalized(Int128 modulus, Int128 residue);
[[nodiscard]] Congruence operator+(const Congruence& a, const Congruence& b);
[[nodiscard]] Congruence operator*(const Congruence& a, const Congruence& b);
/// Of a floordiv d and a mod d, d >= 1.
[[nodiscard]] Congruence floordiv(const Congruence& a, const Congruence& d);
[[nodiscard]] Congruence mod(const Congruence& a, const Congruence& d);
/// What is known of a value that is one of the two.
[[nodiscard]] Congruence join(const Congruence& a, const Congruence& b);

}  // namespace padlock::ir
