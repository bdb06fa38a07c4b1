#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/expr/constraint.h"
#include "ir/expr/expr.h"
#include "onnx/limits.h"
#include "support/steps.h"

namespace padlock::onnx {

using ir::Expr;

/// Arithmetic on the sizes of a model, in a context that it owns. An expression beyond the limits becomes 0, and
/// `is_beyond_limits` stays true from then on. The importer asks after each node.
class SizeMath {
 public:
  /// `steps` limits all of it together.
  explicit SizeMath(std::int64_t steps = limits::kSteps);

  [[nodiscard]] ir::ExprContext& context() { return context_; }
  [[nodiscard]] bool is_beyond_limits() const { return is_beyond_limits_ || steps_.is_used_up(); }

  /// Declare a symbol with the bounds that the language assumes of one. Precondition: the name is new.
  Expr extent(const std::string& name);
  Expr dim(const std::string& name);

  Expr constant(std::int64_t value) { return context_.constant(value); }
  Expr add(Expr a, Expr b);
  Expr sub(Expr a, Expr b);
  Expr mul(Expr a, Expr b);
  Expr neg(Expr a) { return sub(constant(0), a); }
  Expr min(Expr a, Expr b);
  Expr max(Expr a, Expr b);
  Expr abs(Expr a) { return max(a, neg(a)); }
  /// Returns 1 if a < 0, else 0.
  Expr is_negative(Expr a);
  // Precondition of the next four: is_positive(b).
  Expr floordiv(Expr a, Expr b);
  Expr ceildiv(Expr a, Expr b);
  Expr mod(Expr a, Expr b);
  /// Rounds towards zero.
  Expr truncated_div(Expr a, Expr b);
  Expr product(std::span<const Expr> factors);

  // Sound, not complete: false means "not shown".
  [[nodiscard]] bool is_nonnegative(Expr e) const { return facts_.proves_nonnegative(e); }
  [[nodiscard]] bool is_positive(Expr e) const { return facts_.proves_positive(e); }
  [[nodiscard]] bool is_negative_always(Expr e) { return is_positive(neg(e)); }
  /// Makes the comparison of `e` with a number hold. If it is not shown, adds a guard to the program, which is checked
  /// when sizes are bound. Returns false, and adds no guard, if it is shown to fail for all sizes.
  [[nodiscard]] bool require(Expr e, ir::Comparison comparison, std::int64_t number);
  /// Returns the guards so far, in the order in which they were made.
  [[nodiscard]] const std::vector<ir::Constraint>& guards() const { return guards_; }
  [[nodiscard]] bool is_one(Expr e) const { return e.is_constant(1); }

  /// Prints a size for the program's text. One that is too long becomes 0, as above.
  [[nodiscard]] std::string text(Expr e);
  /// Prints a list of sizes: "[S, 2*S]".
  [[nodiscard]] std::string text(std::span<const Expr> list);

 private:
  Expr checked(Expr e);

  ir::ExprContext context_;
  ir::Facts facts_;
  std::vector<ir::Constraint> guards_;
  StepBudget steps_;
  bool is_beyond_limits_ = false;
};

/// Returns the value of a constant that fits 64 bits.
[[nodiscard]] std::optional<std::int64_t> literal(Expr e);

}  // namespace padlock::onnx
