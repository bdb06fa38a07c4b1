#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/text/token_cursor.h"

// Where the parser goes on behind an error: at the next part of the text that stands for itself. Each takes the
// position at which the part in error begins; brackets that it opens are skipped with it.
namespace padlock::ir::syntax {

/// Goes to the next parameter's name, or to what ends the parameters: ')', 'where', '{' or the text's end. Appends the
/// names that the parameter in error may declare.
void skip_parameter(TokenCursor& cursor, std::size_t begin, std::vector<std::string>& names);

/// Goes to the ',' behind a constraint, or to '{' or the text's end.
void skip_constraint(TokenCursor& cursor, std::size_t begin);

/// Goes to the next statement, or to 'return', '}' or the text's end. A statement begins with "name = name (", or as a
/// line, outside brackets, with "name =". Appends the names that what is skipped may declare.
void skip_statement(TokenCursor& cursor, std::size_t begin, std::vector<std::string>& names);

/// Goes to '}' or the text's end.
void skip_results(TokenCursor& cursor);

}  // namespace padlock::ir::syntax
