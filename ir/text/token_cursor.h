#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ir/text/lexer.h"

namespace padlock::ir::syntax {

/// Walks over the tokens of a text. Borrows the text, which outlives the cursor.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view text) : text_(text), list_(tokenize(text)) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
  /// Takes the next token; at the end, the last one again.
  const Token& take();
  /// Returns whether the next token is this punctuation or reserved word.
  [[nodiscard]] bool at(std::string_view text) const;
  /// Takes the next token if it is this one, and returns whether it was.
  bool accept(std::string_view text);
  [[nodiscard]] Status expect(std::string_view text);
  /// Takes an identifier. `what` says what it names, for the error.
  [[nodiscard]] Result<std::string> identifier(std::string_view what);

  /// Makes the error "expected X, found Y" at the next token, or returns that token's lexical error instead.
  [[nodiscard]] std::unexpected<Error> unexpected(std::string_view expected) const;
  [[nodiscard]] std::unexpected<Error> fail(Location where, std::string message) const;
  /// Makes the error of a limit: resource_exhausted.
  [[nodiscard]] std::unexpected<Error> too_large(Location where, std::string message) const;

 private:
  std::string_view text_;  // borrowed
  TokenList list_;
  std::size_t next_ = 0;
};

}  // namespace padlock::ir::syntax
