#pragma once

#include <vector>

#include "ir/token_cursor.h"

namespace padlock::ir::syntax {

/// Reads one integer expression, as long as it goes. Errors: invalid_argument with the position.
[[nodiscard]] Result<Dim> parse_dim(TokenCursor& cursor);

/// Reads "[dim, dim, ...]".
[[nodiscard]] Result<std::vector<Dim>> parse_dim_list(TokenCursor& cursor);

}  // namespace padlock::ir::syntax
