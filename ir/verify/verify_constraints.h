#pragma once

#include <string>
#include <vector>

#include "ir/verify/verify_dims.h"
#include "ir/verify/verify_symbols.h"

// The third part of verification: facts about single symbols, from the stated constraints. Internal to the verifier.
namespace padlock::ir {

/// Facts about each symbol, known before any expression of the program is built. Faulty constraints add none.
struct SymbolFacts {
  std::vector<Range> ranges;            // by symbol index; inside [-2^63, 2^63 - 1]
  std::vector<Congruence> congruences;  // by symbol index
  /// Texts of the constraints, canonical and independent of the ranges; empty for those in error.
  std::vector<std::string> texts;
};

/// Bounds each symbol by the constraints on it alone, and by the language's default if none bounds a side.
///
/// A constraint bounds a symbol from above by x if intervals show it false on all of (x, infinity). Bisection finds x;
/// it is exact for monotone constraints and sound for all. Lists errors, which name the constraint: a divisor that
/// earlier constraints do not show positive, a symbol without an admissible value. Returns errors of limits.
[[nodiscard]] Result<SymbolFacts> analyze_constraints(const syntax::Program& program, const NameTable& names,
                                                      Diagnostics& diagnostics);

}  // namespace padlock::ir
