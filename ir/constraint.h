#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/expr.h"

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

/// What is known of the symbols of a program: their ranges (in the context) and a list of constraints.
/// Answers are sound, not complete: false means "not shown".
class Facts {
 public:
  explicit Facts(ExprContext& context) : context_(&context) {}
  void add(const Constraint& c);

  /// Shown from ranges, or from one constraint e >= 0 (or e == 0) whose difference from the goal has the right sign.
  [[nodiscard]] bool proves_nonnegative(Expr e) const;
  [[nodiscard]] bool proves_positive(Expr e) const;
  [[nodiscard]] bool proves_equal(Expr a, Expr b) const;
  [[nodiscard]] bool proves(const Constraint& c) const;
  /// Shown false for every binding.
  [[nodiscard]] bool refutes(const Constraint& c) const;

 private:
  ExprContext* context_;             // borrowed
  std::vector<Expr> nonnegative_;    // each is >= 0 under the constraints
};

}  // namespace padlock::ir
