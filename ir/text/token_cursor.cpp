#include "ir/text/token_cursor.h"

#include <algorithm>

#include <fmt/format.h>

namespace padlock::ir::syntax {

const Token& TokenCursor::peek(std::size_t ahead) const {
  return list_.tokens[std::min(next_ + ahead, list_.tokens.size() - 1)];
}

const Token& TokenCursor::take() {
  const Token& token = peek();
  next_ = std::min(next_ + 1, list_.tokens.size() - 1);
  return token;
}

bool TokenCursor::at(std::string_view text) const {
  const Token& token = peek();
  return (token.kind == TokenKind::punctuation || token.kind == TokenKind::reserved) && token.text == text;
}

bool TokenCursor::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

Status TokenCursor::expect(std::string_view text) {
  if (!accept(text)) return unexpected(fmt::format("'{}'", text));
  return {};
}

Result<std::string> TokenCursor::identifier(std::string_view what) {
  if (peek().kind != TokenKind::identifier) return unexpected(what);
  return std::string(take().text);
}

std::unexpected<Error> TokenCursor::unexpected(std::string_view expected) const {
  const Token& token = peek();
  if (token.kind == TokenKind::error)
    return list_.is_too_large ? too_large(token.where, list_.message) : fail(token.where, list_.message);
  if (token.kind == TokenKind::end)
    return fail(token.where, fmt::format("expected {}, found the end of the text", expected));
  const std::string_view cut = token.text.size() > 40 ? "..." : "";
  return fail(token.where, fmt::format("expected {}, found '{}{}'", expected, token.text.substr(0, 40), cut));
}

std::unexpected<Error> TokenCursor::fail(Location where, std::string message) const {
  return invalid_argument(std::move(message), span_at(text_, where));
}

std::unexpected<Error> TokenCursor::too_large(Location where, std::string message) const {
  auto error = beyond_limits(std::move(message));
  error.error().where = span_at(text_, where);
  return error;
}

}  // namespace padlock::ir::syntax
