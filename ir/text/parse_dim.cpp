#include "ir/text/parse_dim.h"

#include "support/limits.h"

#include <array>
#include <optional>
#include <ranges>
#include <span>

#include <fmt/format.h>

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

/// Returns the value of a run of digits, if it fits in the 126 bits of expressions.
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

/// Recursive descent, one function a rule of the grammar. Recursion is bounded by limits::kParentheses.
class DimParser {
 public:
  explicit DimParser(TokenCursor& cursor) : cursor_(cursor) {}

  Result<Dim> run() && {
    Dim dim;
    PADLOCK_CHECK(parse_sum(dim));
    return dim;
  }

 private:
  [[nodiscard]] std::unexpected<Error> too_many_operators() const {
    return cursor_.too_large(cursor_.peek().where,
                             fmt::format("expected at most {} operators in an expression", limits::kOperators));
  }

  Status add_operator(Dim& dim, Kind kind, std::uint32_t operands, Location where) {
    if (++operators_ > limits::kOperators) return too_many_operators();
    dim.nodes.push_back({kind, operands, 0, {}, where});
    return {};
  }

  [[nodiscard]] std::optional<Kind> accept_operator(std::span<const OperatorName> names) {
    for (const auto& [text, kind] : names)
      if (cursor_.accept(text)) return kind;
    return std::nullopt;
  }

  Status parse_sum(Dim& dim) {
    const Location where = cursor_.peek().where;
    PADLOCK_CHECK(parse_term(dim));
    while (const auto kind = accept_operator(kAdditive)) {
      PADLOCK_CHECK(parse_term(dim));
      PADLOCK_CHECK(add_operator(dim, *kind, 2, where));
    }
    return {};
  }

  Status parse_term(Dim& dim) {
    const Location where = cursor_.peek().where;
    PADLOCK_CHECK(parse_factor(dim));
    while (const auto kind = accept_operator(kMultiplicative)) {
      PADLOCK_CHECK(parse_factor(dim));
      PADLOCK_CHECK(add_operator(dim, *kind, 2, where));
    }
    return {};
  }

  // A run of minus signs is a loop: only parentheses recurse.
  Status parse_factor(Dim& dim) {
    std::vector<Location> signs;
    while (cursor_.at("-")) {
      signs.push_back(cursor_.take().where);
      if (signs.size() > limits::kOperators) return too_many_operators();
    }
    PADLOCK_CHECK(parse_primary(dim));
    for (const Location where : std::views::reverse(signs)) PADLOCK_CHECK(add_operator(dim, Kind::neg, 1, where));
    return {};
  }

  Status parse_primary(Dim& dim) {
    const Token& token = cursor_.peek();
    if (token.kind == TokenKind::integer) {
      const auto value = integer_value(token.text);
      if (!value)
        return cursor_.fail(token.where, fmt::format("expected an integer below 2^126, found '{}'", token.text));
      dim.nodes.push_back({Kind::integer, 0, *value, {}, token.where});
      cursor_.take();
      return {};
    }
    if (token.kind == TokenKind::identifier) {
      dim.nodes.push_back({Kind::name, 0, 0, std::string(token.text), token.where});
      cursor_.take();
      return {};
    }
    if (cursor_.accept("(")) return parse_parenthesised(dim, token.where);
    if (cursor_.accept("min")) return parse_extremum(dim, Kind::min, token.where);
    if (cursor_.accept("max")) return parse_extremum(dim, Kind::max, token.where);
    return cursor_.unexpected("an integer expression", Place::dim);
  }

  Status enter_parentheses() {
    if (++parentheses_ <= limits::kParentheses) return {};
    return cursor_.too_large(cursor_.peek().where,
                             fmt::format("expected parentheses at most {} deep", limits::kParentheses));
  }

  Status parse_parenthesised(Dim& dim, Location where) {
    PADLOCK_CHECK(enter_parentheses());
    PADLOCK_CHECK(parse_sum(dim));
    if (!cursor_.accept(")")) return cursor_.unexpected("an operator or ')'", Place::dim);
    dim.nodes.back().where = where;
    --parentheses_;
    return {};
  }

  Status parse_extremum(Dim& dim, Kind kind, Location where) {
    PADLOCK_CHECK(cursor_.expect("("));
    PADLOCK_CHECK(enter_parentheses());
    std::uint32_t operands = 0;
    do {
      PADLOCK_CHECK(parse_sum(dim));
      ++operands;
    } while (cursor_.accept(","));
    if (operands < 2) return cursor_.unexpected("an operator or ','", Place::dim);
    if (!cursor_.accept(")")) return cursor_.unexpected("an operator, ',' or ')'", Place::dim);
    operators_ += operands - 2;  // min(a, b, c) is two operators
    PADLOCK_CHECK(add_operator(dim, kind, operands, where));
    --parentheses_;
    return {};
  }

  TokenCursor& cursor_;  // borrowed (outlives the parser)
  std::size_t operators_ = 0, parentheses_ = 0;
};

struct ComparisonName {
  std::string_view text;
  Comparison comparison;
};
constexpr std::array<ComparisonName, 5> kComparisons = {{{"<=", Comparison::le},
                                                         {"<", Comparison::lt},
                                                         {"==", Comparison::eq},
                                                         {">=", Comparison::ge},
                                                         {">", Comparison::gt}}};

[[nodiscard]] std::optional<Comparison> accept_comparison(TokenCursor& cursor) {
  for (const auto& [text, comparison] : kComparisons)
    if (cursor.accept(text)) return comparison;
  return std::nullopt;
}

}  // namespace

Result<Dim> parse_dim(TokenCursor& cursor) { return DimParser(cursor).run(); }

Result<std::vector<Dim>> parse_dim_list(TokenCursor& cursor) {
  PADLOCK_CHECK(cursor.expect("["));
  std::vector<Dim> dims;
  if (cursor.accept("]")) return dims;
  do {
    PADLOCK_TRY(Dim dim, parse_dim(cursor));
    dims.push_back(std::move(dim));
  } while (cursor.accept(","));
  if (!cursor.accept("]")) return cursor.unexpected("an operator, ',' or ']'", Place::dim);
  return dims;
}

Status parse_constraint(TokenCursor& cursor, std::vector<Constraint>& constraints) {
  const Location where = cursor.peek().where;
  PADLOCK_TRY(Dim lhs, parse_dim(cursor));
  auto comparison = accept_comparison(cursor);
  if (!comparison) return cursor.unexpected("an operator or a comparison", Place::comparison);
  while (comparison) {
    PADLOCK_TRY(Dim rhs, parse_dim(cursor));
    constraints.push_back({std::move(lhs), *comparison, rhs, where});
    lhs = std::move(rhs);
    comparison = accept_comparison(cursor);
  }
  return {};
}

Status parse_constraints(TokenCursor& cursor, std::vector<Constraint>& constraints) {
  do PADLOCK_CHECK(parse_constraint(cursor, constraints));
  while (cursor.accept(","));
  return {};
}

}  // namespace padlock::ir::syntax
