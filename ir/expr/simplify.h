#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/linear_form.h"

// Makes expressions canonical: the polynomial normal form (polynomial.cpp), and one table of rules for everything else.
namespace padlock::ir {

/// Rewrites `kind(a, b)` for product, floordiv, mod, min or max, or returns nullopt. The result equals kind(a, b)
/// wherever that can be evaluated: divisors positive, nothing overflows. Rules of min, max and product also hold for
/// two operands among many, in either order.
struct Rule {
  std::string_view name;
  ExprKind kind;
  std::optional<Expr> (*apply)(ExprContext& context, Expr a, Expr b);
};

/// Returns all rules, in the order in which they are tried. A test draws operands for each and checks its result.
[[nodiscard]] std::span<const Rule> simplification_rules();

/// Returns whether the expression is min(e, 1) with e >= 0, to which rules of products apply.
[[nodiscard]] bool has_indicator(Expr e);

/// Returns whether the ranges show a <= b wherever both can be evaluated.
[[nodiscard]] bool provably_le(Expr a, Expr b);

/// The functions behind ExprContext's. Thread-safe as those are.
class Simplifier {
 public:
  /// Returns a + factor * b.
  static Expr add(ExprContext& context, Expr a, Expr b, Int128 factor);
  static Expr scale(ExprContext& context, Expr a, Int128 factor);
  static Expr multiply(ExprContext& context, Expr a, Expr b);
  /// Returns kind(a, b) for floordiv, mod, min and max, simplified by the table.
  static Expr apply(ExprContext& context, ExprKind kind, Expr a, Expr b);

  /// Returns constant + sum of coefficients[i] * terms[i], for any terms. The result is that of adding them one by one;
  /// the cost is that of sorting.
  static Expr sum(ExprContext& context, Int128 constant, std::span<const Expr> terms,
                  std::span<const Int128> coefficients);
  /// Returns the product of all factors, 1 if there are none. The result is that of multiplying one by one.
  static Expr product(ExprContext& context, std::span<const Expr> factors);

  /// Returns the expression that a linear form stands for.
  static Expr make(ExprContext& context, LinearForm form);
  /// Interns kind(operands) without simplifying; sorts the operands of min, max and product first. A single operand is
  /// returned itself.
  static Expr make(ExprContext& context, ExprKind kind, std::vector<Expr> operands);
  /// Joins operands of a commutative kind pairwise by that kind's rules until none applies.
  static Expr join(ExprContext& context, ExprKind kind, std::vector<Expr> operands);
};

}  // namespace padlock::ir
