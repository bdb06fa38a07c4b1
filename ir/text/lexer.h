#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/text/syntax.h"

namespace padlock::ir::syntax {

enum class TokenKind : std::uint8_t {
  end,
  error,       ///< not a word of the language; its message says why
  identifier,  ///< not reserved
  reserved,    ///< a reserved word, types included
  integer,     ///< [0-9]+
  floating,
  hexadecimal,
  punctuation,
  foreign,  ///< a sign, a text in quotes or a byte that has no use in the language
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool follows_comment = false;  ///< a comment stands between it and the token before it, after that one
  std::uint32_t message = 0;     ///< error: index into TokenList::messages
  std::string_view text;         ///< borrowed from the source
  Location where;
};

/// The tokens of a text. The last has the kind end, or error if a limit ended them.
struct TokenList {
  std::vector<Token> tokens;
  std::vector<std::string> messages;
  bool is_too_large = false;  ///< the last is an error of a limit
};

[[nodiscard]] TokenList tokenize(std::string_view text);

}  // namespace padlock::ir::syntax
