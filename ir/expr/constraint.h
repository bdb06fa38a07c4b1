#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/expr/expr.h"
#include "ir/expr/linear_form.h"

namespace padlock::ir {

enum class Comparison : std::uint8_t { le, lt, eq, ge, gt };

/// `lhs cmp rhs` over symbols.
struct Constraint {
  Expr lhs;
  Comparison comparison = Comparison::le;
  Expr rhs;
};

[[nodiscard]] std::string_view name_of(Comparison c);  ///< "<=" and so on
[[nodiscard]] std::string to_string(const ExprContext& context, const Constraint& c);
[[nodiscard]] bool holds(Int128 lhs, Comparison c, Int128 rhs);
/// Moves everything to one side: the expression is >= 0; or == 0 if `second` is true.
[[nodiscard]] std::pair<Expr, bool> as_expression(ExprContext& exprs, const Constraint& c);

/// Facts about a program's symbols: their ranges, which are in the context, and a list of constraints. Answers hold in
/// exact arithmetic, for every binding that satisfies the constraints. They are sound but not complete: false means
/// "not shown". A question takes a bounded number of steps. Thread-safe after the last constraint is added.
class Facts {
 public:
  explicit Facts(ExprContext& context) : context_(&context) {}
  void add(const Constraint& c);

  /// Returns whether e >= 0 is shown: from ranges; from one or two constraints f >= 0 (or f == 0) whose multiples,
  /// subtracted from e, leave a form shown >= 0; from the signs of terms and factors; or from the bounds of min, max,
  /// floordiv and mod.
  [[nodiscard]] bool proves_nonnegative(Expr e) const;
  [[nodiscard]] bool proves_positive(Expr e) const;
  [[nodiscard]] bool proves_equal(Expr a, Expr b) const;
  [[nodiscard]] bool proves(const Constraint& c) const;
  /// Returns whether the constraint is shown false for every binding.
  [[nodiscard]] bool refutes(const Constraint& c) const;

 private:
  /// Returns whether a - b - margin >= 0 is shown.
  [[nodiscard]] bool proves_at_least(Expr a, Expr b, Int128 margin) const;

  ExprContext* context_;                 // borrowed (outlives the facts)
  std::vector<LinearForm> nonnegative_;  // each is >= 0 under the constraints
};

}  // namespace padlock::ir
