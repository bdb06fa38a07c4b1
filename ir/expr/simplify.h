#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/linear_form.h"

// Making expressions canonical: the polynomial normal form (polynomial.cpp) and, for everything beyond it, one table
// of rules.
namespace padlock::ir {

/// A rewriting of `kind(a, b)`: the value it returns equals that of kind(a, b) wherever the latter can be evaluated
/// (divisors positive, nothing overflows), or it returns nothing. kind is product, floordiv, mod, min or max; those of
/// min, max and product also hold for two operands among many, in either order.
struct Rule {
  std::string_view name;
  ExprKind kind;
  std::optional<Expr> (*apply)(ExprContext& context, Expr a, Expr b);
};

/// All rules, in the order in which they are tried. A test draws operands for each and checks what it returns.
[[nodiscard]] std::span<const Rule> simplification_rules();

/// Returns whether a rule of products applies to some factor: to min(e, 1), where e >= 0.
[[nodiscard]] bool has_indicator(Expr e);

/// Returns whether the ranges show a <= b wherever both can be evaluated.
[[nodiscard]] bool provably_le(Expr a, Expr b);

/// The makers behind ExprContext's. Thread-safe as those are.
class Simplifier {
 public:
  /// Returns a + factor * b.
  static Expr add(ExprContext& context, Expr a, Expr b, Int128 factor);
  static Expr scale(ExprContext& context, Expr a, Int128 factor);
  static Expr multiply(ExprContext& context, Expr a, Expr b);
  /// Returns kind(a, b) for floordiv, mod, min and max, simplified by the table.
  static Expr apply(ExprContext& context, ExprKind kind, Expr a, Expr b);

  /// Returns constant + sum of coefficients[i] * terms[i], whatever the terms, as adding one after the other does; but
  /// its cost is that of sorting.
  static Expr sum(ExprContext& context, Int128 constant, std::span<const Expr> terms,
                  std::span<const Int128> coefficients);
  /// Returns the product of all, 1 of none, as multiplying one by the other does.
  static Expr product(ExprContext& context, std::span<const Expr> factors);

  /// Returns the expression that a linear form stands for.
  static Expr make(ExprContext& context, LinearForm form);
  /// Interns kind(operands) as it is; operands of min, max and product sorted first. One operand is that operand.
  static Expr make(ExprContext& context, ExprKind kind, std::vector<Expr> operands);
  /// Joins operands of one commutative kind pairwise by the table's rules of that kind until none applies.
  static Expr join(ExprContext& context, ExprKind kind, std::vector<Expr> operands);
};

}  // namespace padlock::ir
