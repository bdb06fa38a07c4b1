#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tests/differential/programs/random_program.h"

namespace padlock::differential {

/// Draws legal values for the program's symbols, of at most 16384 elements a value; nullopt after some tries. Illegal
/// values drawn on the way must be refused: `is_refused` binds them, and `failure` reports those that are accepted.
[[nodiscard]] std::optional<SymbolValues> next_values(const GeneratedProgram& generated,
                                                      const std::function<bool(const SymbolValues&)>& is_refused,
                                                      testing::Rng& rng, std::string& failure);

/// "N0=4 d1=-2"
[[nodiscard]] std::string describe(const SymbolValues& values);

}  // namespace padlock::differential
