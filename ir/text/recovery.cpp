#include "ir/text/recovery.h"

namespace padlock::ir::syntax {
namespace {

/// Skips tokens, and counts the open brackets.
class Skipper {
 public:
  explicit Skipper(TokenCursor& cursor, std::size_t begin) : cursor_(cursor) {
    const std::size_t error = cursor.position();
    cursor.move_to(begin);
    while (cursor.position() < error) take();
  }

  void take() {
    if (cursor_.at("(") || cursor_.at("[")) ++depth_;
    if (depth_ > 0 && (cursor_.at(")") || cursor_.at("]"))) --depth_;
    cursor_.take();
  }
  [[nodiscard]] bool is_outside() const { return depth_ == 0; }

 private:
  TokenCursor& cursor_;
  std::size_t depth_ = 0;
};

bool is_name(const TokenCursor& cursor, std::size_t ahead = 0) {
  return cursor.peek(ahead).kind == TokenKind::identifier;
}

bool ends_parameters(const TokenCursor& cursor) {
  if (cursor.is_at_end() || cursor.at("{") || cursor.at("where")) return true;
  return cursor.at(")") && (cursor.at(1, "{") || cursor.at(1, "where"));
}

}  // namespace

void skip_parameter(TokenCursor& cursor, std::size_t begin, std::vector<std::string>& names) {
  const std::size_t error = cursor.position();
  cursor.move_to(begin);
  for (; cursor.position() < error; cursor.take())
    if (is_name(cursor)) names.emplace_back(cursor.peek().text);
  Skipper skipper(cursor, begin);
  for (; !ends_parameters(cursor) && !(is_name(cursor) && cursor.at(1, ":")); skipper.take())
    if (is_name(cursor)) names.emplace_back(cursor.peek().text);
}

void skip_constraint(TokenCursor& cursor, std::size_t begin) {
  Skipper skipper(cursor, begin);
  while (!cursor.is_at_end() && !cursor.at("{") && !(skipper.is_outside() && cursor.at(","))) skipper.take();
}

void skip_statement(TokenCursor& cursor, std::size_t begin, std::vector<std::string>& names) {
  Skipper skipper(cursor, begin);
  const std::size_t error = cursor.position();
  cursor.move_to(begin);
  if (is_name(cursor)) names.emplace_back(cursor.peek().text);
  cursor.move_to(error);
  while (!cursor.is_at_end() && !cursor.at("return") && !cursor.at("}")) {
    const bool assigns = is_name(cursor) && cursor.at(1, "=") && cursor.position() != begin;
    if (assigns && is_name(cursor, 2) && cursor.at(3, "(")) return;
    if (assigns && skipper.is_outside() && cursor.is_first_of_line()) return;
    if (assigns) names.emplace_back(cursor.peek().text);
    skipper.take();
  }
}

void skip_results(TokenCursor& cursor) {
  while (!cursor.is_at_end() && !cursor.at("}")) cursor.take();
}

}  // namespace padlock::ir::syntax
