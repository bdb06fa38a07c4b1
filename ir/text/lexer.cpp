#include "ir/text/lexer.h"

#include "support/limits.h"
#include "support/messages/error_list.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

namespace padlock::ir::syntax {
namespace {

// Locale-free character classes of the grammar.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

constexpr std::array<std::string_view, 15> kReservedWords = {"program",  "where",   "return", "strides", "dim",
                                                             "floordiv", "ceildiv", "mod",    "min",     "max",
                                                             "inf",      "nan",     "true",   "false",   "bits"};

/// The types are reserved as well. Sorted, since caches of a million records look up several names each.
constexpr auto kReserved = [] {
  std::array<std::string_view, kReservedWords.size() + std::size(kAllDTypes)> all;
  std::ranges::transform(kAllDTypes, std::ranges::copy(kReservedWords, all.begin()).out,
                         [](DType type) { return name_of(type); });
  std::ranges::sort(all);
  return all;
}();

// Signs of other languages that people write. Each is one token, so that the message is about all of it. Longer ones
// first.
constexpr std::array<std::string_view, 6> kForeign = {"**", "!=", "&&", "||", "->", "..."};

// Longer ones first.
constexpr std::array<std::string_view, 17> kPunctuation = {"==", "<=", ">=", "<", ">", "=", "(", ")", "[",
                                                           "]",  "{",  "}",  ",", ":", "+", "-", "*"};

/// Returns the bytes of the UTF-8 sequence at the beginning of `text`; 0 if it is invalid, as overlong forms and
/// surrogates are.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned char second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
  if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
  return length;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  TokenList run() && {
    if (text_.size() > limits::kTextBytes) {
      too_large("program", "bytes", limits::kTextBytes, text_.size());
      return std::move(list_);
    }
    while (skip_blanks(), position_ < text_.size())
      if (!take_token()) return std::move(list_);
    push(TokenKind::end, 0);
    return std::move(list_);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }
  [[nodiscard]] Location here() const { return {line_, column_}; }

  /// Takes `length` bytes, which are `columns` characters.
  void push(TokenKind kind, std::size_t length, std::size_t columns) {
    const bool behind_comment =
        comment_line_ != 0 && !list_.tokens.empty() && list_.tokens.back().where.line == comment_line_;
    list_.tokens.push_back(
        {.kind = kind, .follows_comment = behind_comment, .text = rest().substr(0, length), .where = here()});
    position_ += length;
    column_ += static_cast<std::uint32_t>(columns);
    comment_line_ = 0;
  }
  void push(TokenKind kind, std::size_t length) { push(kind, length, length); }

  /// Takes `length` bytes with an error at byte `offset` of them. Returns whether to continue.
  bool fail(std::string message, std::size_t length, std::size_t offset = 0) {
    push(TokenKind::error, length);
    list_.tokens.back().message = static_cast<std::uint32_t>(list_.messages.size());
    list_.tokens.back().where.column += static_cast<std::uint32_t>(offset);
    list_.messages.push_back(std::move(message));
    // The list of errors is full.
    return list_.messages.size() <= ErrorList::kMost;
  }

  bool too_large(std::string_view what, std::string_view unit, std::size_t most, std::size_t found) {
    list_.is_too_large = true;
    fail(fmt::format("expected a {} of at most {} {}, found {}", what, most, unit, found), 0);
    return false;
  }

  void skip_blanks() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '\n') {
        ++position_, ++line_, column_ = 1;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++position_, ++column_;
      } else if (!rest().starts_with("//") || !skip_comment()) {
        return;
      }
    }
  }

  // Skips a comment. Columns count characters, so it goes by UTF-8 sequences. Returns false at a byte that is not
  // UTF-8.
  bool skip_comment() {
    comment_line_ = line_;
    while (position_ < text_.size() && text_[position_] != '\n') {
      const std::size_t length = utf8_length(rest());
      if (length == 0) return false;
      position_ += length;
      ++column_;
    }
    return true;
  }

  bool take_token() {
    const char c = text_[position_];
    if (is_letter(c)) return take_word();
    if (is_digit(c)) return take_number();
    for (const std::string_view sign : kForeign)
      if (rest().starts_with(sign)) return push(TokenKind::foreign, sign.size()), true;
    for (const std::string_view p : kPunctuation)
      if (rest().starts_with(p)) return push(TokenKind::punctuation, p.size()), true;
    if (comment_line_ == line_) return take_bad_comment();
    if (c == '"' || c == '\'') return push(TokenKind::foreign, quoted_length()), true;
    push(TokenKind::foreign, std::max<std::size_t>(utf8_length(rest()), 1), 1);
    return true;
  }

  /// Takes the rest of a comment, from a byte that is not UTF-8.
  bool take_bad_comment() {
    const std::size_t length = std::min(rest().find('\n'), rest().size());
    return fail(fmt::format("expected UTF-8, found the byte 0x{:02x}", static_cast<unsigned char>(text_[position_])),
                length);
  }

  /// Returns the length of an ASCII text in quotes on one line; 1 if there is none.
  [[nodiscard]] std::size_t quoted_length() const {
    const char quote = text_[position_];
    const std::size_t inside = span_of(1, [&](char c) { return c >= ' ' && c <= '~' && c != quote; });
    return at(inside + 1) == quote ? inside + 2 : 1;
  }

  bool take_word() {
    const std::size_t length = span_of(0, is_word);
    if (length > limits::kTokenBytes) return too_large("name", "characters", limits::kTokenBytes, length);
    const bool reserved = is_reserved(rest().substr(0, length));
    push(reserved ? TokenKind::reserved : TokenKind::identifier, length);
    return true;
  }

  /// Returns the number of characters of the class from `offset` on.
  template <class Class>
  [[nodiscard]] std::size_t span_of(std::size_t offset, Class in_class) const {
    std::size_t n = 0;
    while (position_ + offset + n < text_.size() && in_class(text_[position_ + offset + n])) ++n;
    return n;
  }
  [[nodiscard]] char at(std::size_t offset) const {
    return position_ + offset < text_.size() ? text_[position_ + offset] : '\0';
  }

  bool take_number() {
    TokenKind kind = TokenKind::integer;
    std::size_t length = 0;
    if (at(0) == '0' && at(1) == 'x') {
      kind = TokenKind::hexadecimal;
      const std::size_t digits = span_of(2, is_hex_digit);
      length = 2 + digits;
      if (digits == 0) return fail("expected hexadecimal digits after '0x'", 2 + span_of(2, is_word));
    } else {
      length = span_of(0, is_digit);
      if (const std::size_t fraction = fraction_length(length); fraction != 0) {
        kind = TokenKind::floating;
        length += fraction;
      }
      if (const std::size_t exponent = exponent_length(length); exponent != 0) {
        kind = TokenKind::floating;
        length += exponent;
      }
    }
    if (const char next = at(length); is_word(next) || next == '.') {
      const std::size_t whole = length + span_of(length, [](char c) { return is_word(c) || c == '.'; });
      return fail(fmt::format("expected the end of the number, found '{}'", next), whole, length);
    }
    if (length > limits::kTokenBytes) return too_large("number", "characters", limits::kTokenBytes, length);
    push(kind, length);
    return true;
  }

  /// Returns the length of "." [0-9]+ at `offset`, or 0.
  [[nodiscard]] std::size_t fraction_length(std::size_t offset) const {
    if (at(offset) != '.') return 0;
    const std::size_t digits = span_of(offset + 1, is_digit);
    return digits == 0 ? 0 : 1 + digits;
  }
  /// Returns the length of [eE] [+-]? [0-9]+ at `offset`, or 0.
  [[nodiscard]] std::size_t exponent_length(std::size_t offset) const {
    if (at(offset) != 'e' && at(offset) != 'E') return 0;
    const std::size_t sign = at(offset + 1) == '+' || at(offset + 1) == '-' ? 1 : 0;
    const std::size_t digits = span_of(offset + 1 + sign, is_digit);
    return digits == 0 ? 0 : 1 + sign + digits;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1, column_ = 1;
  std::uint32_t comment_line_ = 0;  // line of the last comment if no token followed it
  TokenList list_;
};

}  // namespace

bool is_reserved(std::string_view word) { return std::ranges::binary_search(kReserved, word); }

bool is_identifier(std::string_view name) {
  return !name.empty() && name.size() <= limits::kTokenBytes && is_letter(name[0]) &&
         std::ranges::all_of(name, is_word) && !is_reserved(name);
}

TokenList tokenize(std::string_view text) { return Lexer(text).run(); }

}  // namespace padlock::ir::syntax
