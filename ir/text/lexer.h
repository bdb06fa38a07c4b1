#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text/syntax.h"

namespace padlock::ir::syntax {

enum class TokenKind : std::uint8_t {
  end,
  error,       ///< `message` says what is wrong; always the last token
  identifier,  ///< not reserved
  reserved,    ///< a reserved word, types included
  integer,     ///< [0-9]+
  floating,
  hexadecimal,
  punctuation,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  ///< borrowed from the source
  Location where;
};

/// The tokens of a text, up to its end or its first error; the last is of kind end or error.
struct TokenList {
  std::vector<Token> tokens;
  std::string message;        ///< of the error token
  bool is_too_large = false;  ///< whether it is about a limit
};

[[nodiscard]] TokenList tokenize(std::string_view text);

}  // namespace padlock::ir::syntax
