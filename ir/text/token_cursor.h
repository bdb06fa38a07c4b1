#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ir/text/foreign.h"
#include "ir/text/lexer.h"

namespace padlock::ir::syntax {

/// Walks over the tokens of a text. Borrows the text, which outlives it.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view text) : text_(text), list_(tokenize(text)) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const;
  /// Takes the next token. At the end it returns the last one again.
  const Token& take();
  /// Returns whether the next token is this punctuation or reserved word.
  [[nodiscard]] bool at(std::string_view text) const { return at(0, text); }
  /// As above, for the token `ahead` tokens after the next one.
  [[nodiscard]] bool at(std::size_t ahead, std::string_view text) const;
  /// Takes the next token if it is this text. Returns whether it was.
  bool accept(std::string_view text);
  /// Error: as `unexpected`.
  [[nodiscard]] Status expect(std::string_view text, Place place = Place::other);
  /// Takes an identifier. `what` says what it names, for the error.
  [[nodiscard]] Result<std::string> identifier(std::string_view what, Place place = Place::other);

  /// Returns the number of tokens taken.
  [[nodiscard]] std::size_t position() const { return next_; }
  /// Moves to a position, backwards or forwards.
  void move_to(std::size_t position) { next_ = position; }
  /// Returns whether the next token is the last, which is never taken.
  [[nodiscard]] bool is_at_end() const { return next_ + 1 == list_.tokens.size(); }
  /// Returns whether the next token is the first of its line.
  [[nodiscard]] bool is_first_of_line() const;

  /// Makes the error "expected X, found Y" at the next token, with a hint if the token is another language's spelling.
  /// If the token itself is a lexical error, returns that instead.
  [[nodiscard]] std::unexpected<Error> unexpected(std::string_view expected, Place place = Place::other) const;
  [[nodiscard]] std::unexpected<Error> fail(Location where, std::string message) const;
  /// Makes the error of a limit: resource_exhausted.
  [[nodiscard]] std::unexpected<Error> too_large(Location where, std::string message) const;

 private:
  std::string_view text_;  // borrowed
  TokenList list_;
  std::size_t next_ = 0;
};

}  // namespace padlock::ir::syntax
