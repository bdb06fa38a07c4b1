#include "ir/text/token_cursor.h"

#include <algorithm>

#include <fmt/format.h>

namespace padlock::ir::syntax {
namespace {

/// Returns a token as messages quote it.
std::string describe(const Token& token) {
  constexpr std::size_t kShown = 40;
  if (token.kind == TokenKind::end) return "the end of the text";
  const auto first = static_cast<unsigned char>(token.text[0]);
  const bool is_lone_byte = token.text.size() == 1 && (first < ' ' || first > '~');
  if (is_lone_byte) return fmt::format("the byte 0x{:02x}", first);
  return fmt::format("'{}{}'", token.text.substr(0, kShown), token.text.size() > kShown ? "..." : "");
}

}  // namespace

const Token& TokenCursor::peek(std::size_t ahead) const {
  return list_.tokens[std::min(next_ + ahead, list_.tokens.size() - 1)];
}

const Token& TokenCursor::take() {
  const Token& token = peek();
  next_ = std::min(next_ + 1, list_.tokens.size() - 1);
  return token;
}

bool TokenCursor::at(std::size_t ahead, std::string_view text) const {
  const Token& token = peek(ahead);
  return (token.kind == TokenKind::punctuation || token.kind == TokenKind::reserved) && token.text == text;
}

bool TokenCursor::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

Status TokenCursor::expect(std::string_view text, Place place) {
  if (!accept(text)) return unexpected(fmt::format("'{}'", text), place);
  return {};
}

Result<std::string> TokenCursor::identifier(std::string_view what, Place place) {
  if (peek().kind != TokenKind::identifier) return unexpected(what, place);
  return std::string(take().text);
}

bool TokenCursor::is_first_of_line() const {
  return next_ == 0 || list_.tokens[next_ - 1].where.line < list_.tokens[next_].where.line;
}

std::unexpected<Error> TokenCursor::unexpected(std::string_view expected, Place place) const {
  const Token& token = peek();
  if (token.kind == TokenKind::error) {
    const std::string& message = list_.messages[token.message];
    return list_.is_too_large && is_at_end() ? too_large(token.where, message) : fail(token.where, message);
  }
  return fail(token.where, fmt::format("expected {}, found {}{}", expected, describe(token), place_hint(place, token)));
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
