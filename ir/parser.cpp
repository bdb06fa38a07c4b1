#include <array>
#include <span>

#include <fmt/format.h>

#include "ir/lexer.h"
#include "ir/syntax.h"

namespace padlock::ir::syntax {
namespace {

using Kind = DimNode::Kind;

struct OperatorName {
  std::string_view text;
  Kind kind;
};
constexpr std::array<OperatorName, 2> kAdditive = {{{"+", Kind::add}, {"-", Kind::sub}}};
constexpr std::array<OperatorName, 4> kMultiplicative = {
    {{"*", Kind::mul}, {"floordiv", Kind::floordiv}, {"ceildiv", Kind::ceildiv}, {"mod", Kind::mod}}};

struct ComparisonName {
  std::string_view text;
  Comparison comparison;
};
constexpr std::array<ComparisonName, 5> kComparisons = {{{"<=", Comparison::le},
                                                         {"<", Comparison::lt},
                                                         {"==", Comparison::eq},
                                                         {">=", Comparison::ge},
                                                         {">", Comparison::gt}}};

/// The value of a run of digits, if it fits the 126 bits that expressions are made of.
std::optional<Int128> integer_value(std::string_view digits) {
  Int128 value = 0;
  for (const char c : digits) {
    const std::optional<Int128> shifted = checked_mul<Int128>(value, 10);
    if (!shifted || *shifted >= Range::kMax) return std::nullopt;
    value = *shifted + (c - '0');
    if (value >= Range::kMax) return std::nullopt;
  }
  return value;
}

/// Recursive descent, one function a rule of the grammar. Recursion is bounded by kMaxParentheses.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), list_(tokenize(text)) {}

  Result<Program> run() && {
    program_.source = std::string(text_.size() <= kMaxTextBytes ? text_ : std::string_view{});
    PADLOCK_CHECK(expect("program"));
    PADLOCK_TRY(program_.name, identifier("the name of the program"));
    PADLOCK_CHECK(parse_parameters());
    if (accept("where")) PADLOCK_CHECK(parse_constraints());
    PADLOCK_CHECK(expect("{"));
    while (peek().kind == TokenKind::identifier) PADLOCK_CHECK(parse_statement());
    PADLOCK_CHECK(parse_return());
    PADLOCK_CHECK(expect("}"));
    if (peek().kind != TokenKind::end) return unexpected("the end of the program");
    return std::move(program_);
  }

 private:
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return list_.tokens[std::min(next_ + ahead, list_.tokens.size() - 1)];
  }
  [[nodiscard]] bool at(std::string_view text) const {
    const Token& token = peek();
    return (token.kind == TokenKind::punctuation || token.kind == TokenKind::reserved) && token.text == text;
  }
  bool accept(std::string_view text) {
    if (!at(text)) return false;
    ++next_;
    return true;
  }

  /// "expected X, found Y" at the next token; a lexical error there is the finding.
  [[nodiscard]] std::unexpected<Error> unexpected(std::string_view expected) const {
    const Token& token = peek();
    if (token.kind == TokenKind::error) return fail(token.where, list_.message);
    if (token.kind == TokenKind::end)
      return fail(token.where, fmt::format("expected {}, found the end of the text", expected));
    const std::string_view cut = token.text.size() > 40 ? "..." : "";
    return fail(token.where, fmt::format("expected {}, found '{}{}'", expected, token.text.substr(0, 40), cut));
  }
  [[nodiscard]] std::unexpected<Error> fail(Location where, std::string message) const {
    return invalid_argument(std::move(message), span_at(text_, where));
  }

  Status expect(std::string_view text) {
    if (!accept(text)) return unexpected(fmt::format("'{}'", text));
    return {};
  }
  Result<std::string> identifier(std::string_view what) {
    if (peek().kind != TokenKind::identifier) return unexpected(what);
    return std::string(list_.tokens[next_++].text);
  }

  Status parse_parameters() {
    PADLOCK_CHECK(expect("("));
    if (accept(")")) return {};
    do PADLOCK_CHECK(parse_parameter());
    while (accept(","));
    if (!accept(")")) return unexpected("',' or ')'");
    return {};
  }

  Status parse_parameter() {
    Parameter parameter;
    parameter.where = peek().where;
    PADLOCK_TRY(parameter.name, identifier("the name of a parameter"));
    PADLOCK_CHECK(expect(":"));
    if (accept("dim")) {
      parameter.kind = Parameter::Kind::dim;
    } else {
      const auto dtype = peek().kind == TokenKind::reserved ? dtype_from_name(peek().text) : std::nullopt;
      if (!dtype) return unexpected("a type or 'dim'");
      ++next_;
      parameter.dtype = *dtype;
      PADLOCK_CHECK(parse_shape(parameter));
    }
    program_.parameters.push_back(std::move(parameter));
    return {};
  }

  Status parse_shape(Parameter& parameter) {
    if (!at("[")) {
      parameter.kind = Parameter::Kind::scalar;
      return {};
    }
    PADLOCK_TRY(parameter.extents, dim_list());
    if (!accept("strides")) return {};
    PADLOCK_TRY(parameter.strides, dim_list());
    return {};
  }

  Result<std::vector<Dim>> dim_list() {
    PADLOCK_CHECK(expect("["));
    std::vector<Dim> dims;
    if (accept("]")) return dims;
    do {
      PADLOCK_TRY(Dim dim, whole_dim());
      dims.push_back(std::move(dim));
    } while (accept(","));
    if (!accept("]")) return unexpected("an operator, ',' or ']'");
    return dims;
  }

  Status parse_constraints() {
    do PADLOCK_CHECK(parse_constraint());
    while (accept(","));
    return {};
  }

  [[nodiscard]] std::optional<Comparison> accept_comparison() {
    for (const auto& [text, comparison] : kComparisons)
      if (accept(text)) return comparison;
    return std::nullopt;
  }

  Status parse_constraint() {
    const Location where = peek().where;
    PADLOCK_TRY(Dim lhs, whole_dim());
    auto comparison = accept_comparison();
    if (!comparison) return unexpected("an operator or a comparison");
    while (comparison) {
      PADLOCK_TRY(Dim rhs, whole_dim());
      program_.constraints.push_back({std::move(lhs), *comparison, rhs, where});
      lhs = std::move(rhs);
      comparison = accept_comparison();
    }
    return {};
  }

  Result<Dim> whole_dim() {
    Dim dim;
    operators_ = 0;
    PADLOCK_CHECK(parse_dim(dim));
    return dim;
  }

  Status add_operator(Dim& dim, Kind kind, std::uint32_t operands, Location where) {
    if (++operators_ > kMaxOperators)
      return fail(peek().where, fmt::format("expected at most {} operators in an expression", kMaxOperators));
    dim.nodes.push_back({kind, operands, 0, {}, where});
    return {};
  }

  [[nodiscard]] std::optional<Kind> accept_operator(std::span<const OperatorName> names) {
    for (const auto& [text, kind] : names)
      if (accept(text)) return kind;
    return std::nullopt;
  }

  Status parse_dim(Dim& dim) {
    const Location where = peek().where;
    PADLOCK_CHECK(parse_term(dim));
    while (const auto kind = accept_operator(kAdditive)) {
      PADLOCK_CHECK(parse_term(dim));
      PADLOCK_CHECK(add_operator(dim, *kind, 2, where));
    }
    return {};
  }

  Status parse_term(Dim& dim) {
    const Location where = peek().where;
    PADLOCK_CHECK(parse_factor(dim));
    while (const auto kind = accept_operator(kMultiplicative)) {
      PADLOCK_CHECK(parse_factor(dim));
      PADLOCK_CHECK(add_operator(dim, *kind, 2, where));
    }
    return {};
  }

  // A run of minus signs is one loop: only parentheses recurse.
  Status parse_factor(Dim& dim) {
    const std::size_t first = next_;
    while (accept("-"))
      if (next_ - first > kMaxOperators)
        return fail(peek().where, fmt::format("expected at most {} operators in an expression", kMaxOperators));
    const std::size_t last = next_;
    PADLOCK_CHECK(parse_primary(dim));
    for (std::size_t i = last; i > first; --i)
      PADLOCK_CHECK(add_operator(dim, Kind::neg, 1, list_.tokens[i - 1].where));
    return {};
  }

  Status parse_primary(Dim& dim) {
    const Token& token = peek();
    if (token.kind == TokenKind::integer) {
      const auto value = integer_value(token.text);
      if (!value) return fail(token.where, fmt::format("expected an integer below 2^126, found '{}'", token.text));
      dim.nodes.push_back({Kind::integer, 0, *value, {}, token.where});
      ++next_;
      return {};
    }
    if (token.kind == TokenKind::identifier) {
      dim.nodes.push_back({Kind::name, 0, 0, std::string(token.text), token.where});
      ++next_;
      return {};
    }
    if (accept("(")) return parse_parenthesised(dim, token.where);
    if (accept("min")) return parse_extremum(dim, Kind::min, token.where);
    if (accept("max")) return parse_extremum(dim, Kind::max, token.where);
    return unexpected("an integer expression");
  }

  Status enter_parentheses() {
    if (++parentheses_ <= kMaxParentheses) return {};
    return fail(peek().where, fmt::format("expected parentheses at most {} deep", kMaxParentheses));
  }

  Status parse_parenthesised(Dim& dim, Location where) {
    PADLOCK_CHECK(enter_parentheses());
    PADLOCK_CHECK(parse_dim(dim));
    if (!accept(")")) return unexpected("an operator or ')'");
    dim.nodes.back().where = where;
    --parentheses_;
    return {};
  }

  Status parse_extremum(Dim& dim, Kind kind, Location where) {
    PADLOCK_CHECK(expect("("));
    PADLOCK_CHECK(enter_parentheses());
    std::uint32_t operands = 0;
    do {
      PADLOCK_CHECK(parse_dim(dim));
      ++operands;
    } while (accept(","));
    if (operands < 2) return unexpected("an operator or ','");
    if (!accept(")")) return unexpected("an operator, ',' or ')'");
    operators_ += static_cast<int>(operands) - 2;  // min(a, b, c) is two operators
    PADLOCK_CHECK(add_operator(dim, kind, operands, where));
    --parentheses_;
    return {};
  }

  Status parse_statement() {
    Statement statement;
    statement.where = peek().where;
    PADLOCK_TRY(statement.name, identifier("the name of a value"));
    PADLOCK_CHECK(expect("="));
    statement.operation_where = peek().where;
    PADLOCK_TRY(statement.operation, identifier("the name of an operation"));
    PADLOCK_CHECK(expect("("));
    if (!accept(")")) {
      do PADLOCK_CHECK(parse_argument(statement.arguments));
      while (accept(","));
      if (!accept(")")) return unexpected("',' or ')'");
    }
    program_.statements.push_back(std::move(statement));
    return {};
  }

  Status parse_argument(std::vector<Argument>& arguments) {
    Argument argument;
    const Token& next = peek(1);
    if (peek().kind == TokenKind::identifier && next.kind == TokenKind::punctuation && next.text == "=") {
      argument.keyword_where = peek().where;
      argument.keyword = std::string(peek().text);
      next_ += 2;
    } else if (!arguments.empty() && !arguments.back().keyword.empty()) {
      return unexpected("a named argument after a named one");
    }
    argument.where = peek().where;
    if (!argument.keyword.empty() && at("[")) {
      PADLOCK_TRY(argument.value, dim_list());
    } else {
      PADLOCK_CHECK(parse_operand(argument));
    }
    arguments.push_back(std::move(argument));
    return {};
  }

  Status parse_operand(Argument& argument) {
    const Token& token = peek();
    const bool is_type = token.kind == TokenKind::reserved && dtype_from_name(token.text).has_value();
    if (token.kind == TokenKind::identifier || is_type) {
      argument.value = std::string(token.text);
      ++next_;
      return {};
    }
    PADLOCK_TRY(argument.value,
                literal(argument.keyword.empty() ? "a value or a literal" : "a value, a literal or '['"));
    return {};
  }

  Result<Literal> literal(std::string_view expected) {
    Literal result;
    const bool negative = accept("-");
    const Token& token = peek();
    const bool number = token.kind == TokenKind::integer || token.kind == TokenKind::floating || at("inf");
    if (!number && negative) return unexpected("a number or 'inf'");
    if (!number && at("bits")) return bits_literal();
    if (!number && !at("nan") && !at("true") && !at("false")) return unexpected(expected);
    result.text = (negative ? "-" : "") + std::string(token.text);
    ++next_;
    return result;
  }

  Result<Literal> bits_literal() {
    PADLOCK_CHECK(expect("bits"));
    PADLOCK_CHECK(expect("("));
    if (peek().kind != TokenKind::hexadecimal) return unexpected("a hexadecimal number such as 0x7fc00000");
    Literal result{fmt::format("bits({})", peek().text)};
    ++next_;
    PADLOCK_CHECK(expect(")"));
    return result;
  }

  Status parse_return() {
    if (!accept("return")) return unexpected("a statement or 'return'");
    do {
      const Location where = peek().where;
      PADLOCK_TRY(std::string name, identifier("the name of a value"));
      program_.results.emplace_back(std::move(name), where);
    } while (accept(","));
    if (!at("}")) return unexpected("',' or '}'");
    return {};
  }

  std::string_view text_;
  TokenList list_;
  std::size_t next_ = 0;
  int operators_ = 0, parentheses_ = 0;
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
