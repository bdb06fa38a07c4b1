#pragma once

#include <vector>

#include "ir/text/token_cursor.h"

namespace padlock::ir::syntax {

/// Parses the longest integer expression at the cursor. Errors, with the position: invalid_argument; resource_exhausted
/// beyond a limit.
[[nodiscard]] Result<Dim> parse_dim(TokenCursor& cursor);

/// Reads "[dim, dim, ...]".
[[nodiscard]] Result<std::vector<Dim>> parse_dim_list(TokenCursor& cursor);

/// Reads "dim cmp dim {cmp dim}" and appends it, split.
[[nodiscard]] Status parse_constraint(TokenCursor& cursor, std::vector<Constraint>& constraints);

/// Reads "dim cmp dim {cmp dim}, ..." and appends it, chains split.
[[nodiscard]] Status parse_constraints(TokenCursor& cursor, std::vector<Constraint>& constraints);

}  // namespace padlock::ir::syntax
