#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/text/token_cursor.h"

// The parser's continuation after an error: at the next parameter, constraint or statement. Each function takes the
// position at which the faulty one begins; brackets that it opens are skipped with it.
namespace padlock::ir::syntax {

/// Moves to the next parameter's name, or to the end of the parameters: ')', 'where', '{' or the text's end. Appends
/// the names that the faulty parameter may declare.
void skip_parameter(TokenCursor& cursor, std::size_t begin, std::vector<std::string>& names);

/// Moves to the ',' after a constraint, or to '{' or the text's end.
void skip_constraint(TokenCursor& cursor, std::size_t begin);

/// Moves to the next statement, or to 'return', '}' or the text's end. A statement begins with "name = name (", or with
/// "name =" at the beginning of a line outside brackets. Appends the names that the skipped text may declare.
void skip_statement(TokenCursor& cursor, std::size_t begin, std::vector<std::string>& names);

/// Moves to '}' or the text's end.
void skip_results(TokenCursor& cursor);

}  // namespace padlock::ir::syntax
