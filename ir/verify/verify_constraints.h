#pragma once

#include <string>
#include <vector>

#include "ir/verify/verify_dims.h"
#include "ir/verify/verify_symbols.h"

// The third part of verification: facts about each symbol alone, from the stated constraints. Internal to the verifier.
namespace padlock::ir {

/// Facts about the symbols, and of constraints in error nothing; known before any expression of the program is built.
struct SymbolFacts {
  std::vector<Range> ranges;            // by symbol index; inside [-2^63, 2^63 - 1]
  std::vector<Congruence> congruences;  // by symbol index
  /// Texts of the constraints, canonical and independent of the ranges; empty for those in error.
  std::vector<std::string> texts;
};

/// Bounds each symbol by the constraints in it alone, and where none bounds a side, by the language's default.
///
/// A constraint bounds a symbol from above by x where intervals show it false on all of (x, infinity); x is found by
/// bisection, which is exact for monotone constraints and sound for all. Lists errors, which name the constraint: a
/// divisor that the constraints before it do not show positive, a symbol without an admissible value. Returns those of
/// limits.
[[nodiscard]] Result<SymbolFacts> analyze_constraints(const syntax::Program& program, const NameTable& names,
                                                      Diagnostics& diagnostics);

}  // namespace padlock::ir
