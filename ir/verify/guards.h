#pragma once

#include <string_view>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/program.h"

namespace padlock::ir {

/// Parses "S >= 1024, 0 <= lo < 8": constraints in the language's syntax over a program's symbols, as expressions of
/// its context; none for an empty text. Errors: invalid_argument, with the position in the text, for syntax, for
/// unknown names, and for a divisor that is not provably positive; resource_exhausted for an expression that is too
/// large.
[[nodiscard]] Result<std::vector<Constraint>> parse_guards(const Program& program, std::string_view text);

}  // namespace padlock::ir
