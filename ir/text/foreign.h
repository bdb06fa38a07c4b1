#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/text/lexer.h"

// How Padlock spells what other languages and libraries have: Python, C, NumPy, PyTorch, JAX and ONNX. Hints stand
// behind a message, begin with "; " and are empty where there is nothing to say.
namespace padlock::ir {

/// The kinds of names that a program has.
enum class Vocabulary : std::uint8_t { operation, type, mode, argument, value };

/// Returns "; write 'f32'" for a spelling of another language, else "; did you mean 'f32'?" for a name that is almost
/// one of ours. Arguments and values have no list of their own here: see did_you_mean.
[[nodiscard]] std::string spelling_hint(Vocabulary vocabulary, std::string_view name);
/// The spelling of another language alone: "; write 'limit'", or "".
[[nodiscard]] std::string foreign_hint(Vocabulary vocabulary, std::string_view name);

}  // namespace padlock::ir

namespace padlock::ir::syntax {

/// The places of the grammar at which a token may be unexpected.
enum class Place : std::uint8_t {
  other,
  word,        ///< a keyword of the language
  dim,         ///< in an integer expression, or behind one
  comparison,  ///< behind the expression that a constraint begins with
  type,        ///< of a parameter
  operation,   ///< the operation's name
  call,        ///< behind it
  keyword,     ///< the name of an argument
  operand,     ///< where a value or a literal may stand
  mode,        ///< the same, as the argument 'mode'
  argument,    ///< behind an argument
  statement,   ///< behind a statement
};

[[nodiscard]] std::string place_hint(Place place, const Token& token);

}  // namespace padlock::ir::syntax
