#pragma once

#include <string_view>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/program.h"

namespace padlock::ir {

/// Reads "S >= 1024, 0 <= lo < 8": constraints in the language's own syntax over a program's symbols, as expressions of
/// its context; empty text has none. Errors: invalid_argument with the position in the text, for what the grammar, the
/// program's names or its divisors (each provably positive) refuse; resource_exhausted for an expression that is too
/// large.
[[nodiscard]] Result<std::vector<Constraint>> parse_guards(const Program& program, std::string_view text);

}  // namespace padlock::ir
