#pragma once

#include <cstdint>
#include <optional>

#include "ir/expr/expr.h"

// Congruences as equations for one symbol: what "(3 * s + 1) mod 8 == 4" says of s.
namespace padlock::ir {

/// The solutions of a * s = r (mod m), for m > 0: s = residue (mod modulus), or nullopt if there is none.
[[nodiscard]] std::optional<Congruence> solve_congruence(Int128 a, Int128 r, std::int64_t m);

/// Both at once, or nullopt if they exclude one another. Keeps `a` alone where the moduli's multiple is too large.
[[nodiscard]] std::optional<Congruence> combine(const Congruence& a, const Congruence& b);

/// What is in the range and congruent, if anything.
[[nodiscard]] bool has_value(const Range& range, const Congruence& congruence);

}  // namespace padlock::ir
