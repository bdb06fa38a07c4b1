#pragma once

#include "ir/expr/expr.h"

// Arithmetic of "x is residue modulo modulus". Moduli and residues stay within 64 bits; a result that would not is
// replaced by a weaker congruence.
namespace padlock::ir {

[[nodiscard]] Congruence congruence_of(Int128 constant);
/// Returns the congruence with its residue reduced into [0, modulus).
[[nodiscard]] Congruence normalized(Int128 modulus, Int128 residue);
[[nodiscard]] Congruence operator+(const Congruence& a, const Congruence& b);
[[nodiscard]] Congruence operator*(const Congruence& a, const Congruence& b);
/// Return the congruences of a floordiv d and a mod d. Precondition: d >= 1.
[[nodiscard]] Congruence floordiv(const Congruence& a, const Congruence& d);
[[nodiscard]] Congruence mod(const Congruence& a, const Congruence& d);
/// Returns a congruence of every value that satisfies `a` or `b`.
[[nodiscard]] Congruence join(const Congruence& a, const Congruence& b);

}  // namespace padlock::ir
