#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr/expr.h"

// Congruences as equations for one symbol, such as "(3 * s + 1) mod 8 == 4" for s.
namespace padlock::ir {

/// Solves a * s = r (mod m) for s, as s = residue (mod modulus); nullopt if there is no solution. Precondition: m > 0.
[[nodiscard]] std::optional<Congruence> solve_congruence(Int128 a, Int128 r, std::int64_t m);

/// Combines two congruences into one; nullopt if they exclude one another. Returns `a` alone if the moduli's common
/// multiple is too large.
[[nodiscard]] std::optional<Congruence> combine(const Congruence& a, const Congruence& b);

/// Returns whether the range has a value that satisfies the congruence.
[[nodiscard]] bool has_value(const Range& range, const Congruence& congruence);

}  // namespace padlock::ir
