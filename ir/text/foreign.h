#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/text/lexer.h"

// Padlock's spelling of words from other languages and libraries: Python, C, NumPy, PyTorch, JAX and ONNX. A hint
// stands behind a message and begins with "; "; it is empty if there is nothing to say.
namespace padlock::ir {

/// The kinds of names that a program has.
enum class Vocabulary : std::uint8_t { operation, type, mode, argument, value };

/// Returns "; write 'f32'" for a spelling of another language, else "; did you mean 'f32'?" for a name close to one of
/// ours. Arguments and values have no list here: see did_you_mean.
[[nodiscard]] std::string spelling_hint(Vocabulary vocabulary, std::string_view name);
/// Returns only the hint of another language's spelling: "; write 'limit'", or "".
[[nodiscard]] std::string foreign_hint(Vocabulary vocabulary, std::string_view name);

}  // namespace padlock::ir

namespace padlock::ir::syntax {

/// The places of the grammar at which a token may be unexpected.
enum class Place : std::uint8_t {
  other,
  word,        ///< a keyword of the language
  dim,         ///< in or after an integer expression
  comparison,  ///< after the first expression of a constraint
  type,        ///< the type of a parameter
  operation,   ///< the name of an operation
  call,        ///< after that name
  keyword,     ///< the name of an argument
  operand,     ///< a value or a literal
  mode,        ///< the value of the argument 'mode'
  argument,    ///< after an argument
  statement,   ///< after a statement
};

[[nodiscard]] std::string place_hint(Place place, const Token& token);

}  // namespace padlock::ir::syntax
