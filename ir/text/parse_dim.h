#pragma once

#include <vector>

#include "ir/text/token_cursor.h"

namespace padlock::ir::syntax {

/// Parses the longest integer expression at the cursor. Errors, with the position: invalid_argument; resource_exhausted
/// beyond a limit.
[[nodiscard]] Result<Dim> parse_dim(TokenCursor& cursor);

/// Reads "[dim, dim, ...]".
[[nodiscard]] Result<std::vector<Dim>> parse_dim_list(TokenCursor& cursor);

/// Reads "dim cmp dim {cmp dim}" and appends it as one constraint for each `cmp`.
[[nodiscard]] Status parse_constraint(TokenCursor& cursor, std::vector<Constraint>& constraints);

/// Reads a list of these, "dim cmp dim {cmp dim}, ...", and appends one constraint for each `cmp`.
[[nodiscard]] Status parse_constraints(TokenCursor& cursor, std::vector<Constraint>& constraints);

}  // namespace padlock::ir::syntax
