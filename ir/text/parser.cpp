#include <fmt/format.h>

#include "ir/text/parse_dim.h"
#include "ir/text/syntax.h"
#include "support/limits.h"

namespace padlock::ir::syntax {
namespace {

/// Recursive descent, one function a rule of the grammar; expressions, the only ones to nest, are parse_dim's.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), cursor_(text) {}

  Result<Program> run() && {
    program_.source = std::string(text_.size() <= limits::kTextBytes ? text_ : std::string_view{});
    PADLOCK_CHECK(cursor_.expect("program"));
    PADLOCK_TRY(program_.name, cursor_.identifier("the name of the program"));
    PADLOCK_CHECK(parse_parameters());
    if (cursor_.accept("where")) PADLOCK_CHECK(parse_constraints(cursor_, program_.constraints));
    PADLOCK_CHECK(cursor_.expect("{"));
    while (cursor_.peek().kind == TokenKind::identifier) PADLOCK_CHECK(parse_statement());
    PADLOCK_CHECK(parse_return());
    PADLOCK_CHECK(cursor_.expect("}"));
    if (cursor_.peek().kind != TokenKind::end) return cursor_.unexpected("the end of the program");
    return std::move(program_);
  }

 private:
  Status parse_parameters() {
    PADLOCK_CHECK(cursor_.expect("("));
    if (cursor_.accept(")")) return {};
    do PADLOCK_CHECK(parse_parameter());
    while (cursor_.accept(","));
    if (!cursor_.accept(")")) return cursor_.unexpected("',' or ')'");
    return {};
  }

  Status parse_parameter() {
    Parameter parameter;
    parameter.where = cursor_.peek().where;
    PADLOCK_TRY(parameter.name, cursor_.identifier("the name of a parameter"));
    PADLOCK_CHECK(cursor_.expect(":"));
    if (cursor_.accept("dim")) {
      parameter.kind = Parameter::Kind::dim;
    } else {
      const auto dtype =
          cursor_.peek().kind == TokenKind::reserved ? dtype_from_name(cursor_.peek().text) : std::nullopt;
      if (!dtype) return cursor_.unexpected("a type or 'dim'");
      cursor_.take();
      parameter.dtype = *dtype;
      PADLOCK_CHECK(parse_shape(parameter));
    }
    program_.parameters.push_back(std::move(parameter));
    return {};
  }

  Status parse_shape(Parameter& parameter) {
    if (!cursor_.at("[")) {
      parameter.kind = Parameter::Kind::scalar;
      return {};
    }
    PADLOCK_TRY(parameter.extents, parse_dim_list(cursor_));
    if (!cursor_.accept("strides")) return {};
    PADLOCK_TRY(parameter.strides, parse_dim_list(cursor_));
    return {};
  }

  Status parse_statement() {
    Statement statement;
    statement.where = cursor_.peek().where;
    PADLOCK_TRY(statement.name, cursor_.identifier("the name of a value"));
    PADLOCK_CHECK(cursor_.expect("="));
    statement.operation_where = cursor_.peek().where;
    PADLOCK_TRY(statement.operation, cursor_.identifier("the name of an operation"));
    PADLOCK_CHECK(cursor_.expect("("));
    if (!cursor_.accept(")")) {
      do PADLOCK_CHECK(parse_argument(statement.arguments));
      while (cursor_.accept(","));
      if (!cursor_.accept(")")) return cursor_.unexpected("',' or ')'");
    }
    program_.statements.push_back(std::move(statement));
    return {};
  }

  Status parse_argument(std::vector<Argument>& arguments) {
    Argument argument;
    const Token& next = cursor_.peek(1);
    if (cursor_.peek().kind == TokenKind::identifier && next.kind == TokenKind::punctuation && next.text == "=") {
      argument.keyword_where = cursor_.peek().where;
      argument.keyword = std::string(cursor_.peek().text);
      cursor_.take();
      cursor_.take();
    } else if (!arguments.empty() && !arguments.back().keyword.empty()) {
      return cursor_.unexpected("a named argument after a named one");
    }
    argument.where = cursor_.peek().where;
    if (!argument.keyword.empty() && cursor_.at("[")) {
      PADLOCK_TRY(argument.value, parse_dim_list(cursor_));
    } else {
      PADLOCK_CHECK(parse_operand(argument));
    }
    arguments.push_back(std::move(argument));
    return {};
  }

  Status parse_operand(Argument& argument) {
    const Token& token = cursor_.peek();
    const auto dtype = token.kind == TokenKind::reserved ? dtype_from_name(token.text) : std::nullopt;
    if (token.kind == TokenKind::identifier || dtype) {
      std::string name(token.text);
      cursor_.take();
      if (dtype && cursor_.accept("(")) return parse_typed_literal(argument, *dtype);
      argument.value = std::move(name);
      return {};
    }
    PADLOCK_TRY(argument.value,
                literal(argument.keyword.empty() ? "a value or a literal" : "a value, a literal or '['"));
    return {};
  }

  /// Parses the rest of "f32(-1.5)", from the literal on.
  Status parse_typed_literal(Argument& argument, DType dtype) {
    PADLOCK_TRY(Literal typed, literal("a literal"));
    typed.dtype = dtype;
    PADLOCK_CHECK(cursor_.expect(")"));
    argument.value = std::move(typed);
    return {};
  }

  Result<Literal> literal(std::string_view expected) {
    Literal result;
    const bool negative = cursor_.accept("-");
    const Token& token = cursor_.peek();
    const bool number = token.kind == TokenKind::integer || token.kind == TokenKind::floating || cursor_.at("inf");
    if (!number && negative) return cursor_.unexpected("a number or 'inf'");
    if (!number && cursor_.at("bits")) return bits_literal();
    if (!number && !cursor_.at("nan") && !cursor_.at("true") && !cursor_.at("false"))
      return cursor_.unexpected(expected);
    result.text = (negative ? "-" : "") + std::string(token.text);
    cursor_.take();
    return result;
  }

  Result<Literal> bits_literal() {
    PADLOCK_CHECK(cursor_.expect("bits"));
    PADLOCK_CHECK(cursor_.expect("("));
    if (cursor_.peek().kind != TokenKind::hexadecimal)
      return cursor_.unexpected("a hexadecimal number such as 0x7fc00000");
    Literal result{fmt::format("bits({})", cursor_.peek().text)};
    cursor_.take();
    PADLOCK_CHECK(cursor_.expect(")"));
    return result;
  }

  Status parse_return() {
    if (!cursor_.accept("return")) return cursor_.unexpected("a statement or 'return'");
    do {
      const Location where = cursor_.peek().where;
      PADLOCK_TRY(std::string name, cursor_.identifier("the name of a value"));
      program_.results.emplace_back(std::move(name), where);
    } while (cursor_.accept(","));
    if (!cursor_.at("}")) return cursor_.unexpected("',' or '}'");
    return {};
  }

  std::string_view text_;
  TokenCursor cursor_;
  Program program_;
};

}  // namespace

Result<Program> parse(std::string_view text) { return Parser(text).run(); }

SourceSpan span_at(std::string_view source, Location where) {
  constexpr std::size_t kMaxShown = 2000;
  SourceSpan span{where.line, where.column, {}};
  if (where.line == 0) return span;
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < where.line; ++line) {
    const std::size_t newline = source.find('\n', begin);
    if (newline == std::string_view::npos) return span;
    begin = newline + 1;
  }
  std::string_view line = source.substr(begin, source.find('\n', begin) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  // The caret's indent needs the column to lie in the line.
  if (line.size() <= kMaxShown && where.column <= line.size() + 1) span.source_line = std::string(line);
  return span;
}

}  // namespace padlock::ir::syntax
