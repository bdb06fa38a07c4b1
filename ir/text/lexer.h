#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text/syntax.h"

namespace padlock::ir::syntax {

enum class TokenKind : std::uint8_t {
  end,
  error,       ///< a word that is none; its message says why
  identifier,  ///< not reserved
  reserved,    ///< a reserved word, types included
  integer,     ///< [0-9]+
  floating,
  hexadecimal,
  punctuation,
  foreign,  ///< a sign, a text in quotes or a byte that the language has no use for
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool follows_comment = false;  ///< whether a comment stands between it and the token before it, behind that one
  std::uint32_t message = 0;     ///< error: index into TokenList::messages
  std::string_view text;         ///< borrowed from the source
  Location where;
};

/// The tokens of a text, of which the last is of kind end, or of kind error where a limit ended them.
struct TokenList {
  std::vector<Token> tokens;
  std::vector<std::string> messages;
  bool is_too_large = false;  ///< whether the last is an error of a limit
};

[[nodiscard]] TokenList tokenize(std::string_view text);

}  // namespace padlock::ir::syntax
