#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"
#include "solver/integer_solver.h"

namespace padlock::solver {

/// Expressions as linear rows over variables. Symbols and coordinates are variables; floordiv and mod by a literal are
/// exact, with a variable for the quotient. What is not linear (a product, a quotient by a symbol, min, max) becomes a
/// variable too, one for each interned expression, with the inequalities that it satisfies whatever its operands are: a
/// superset of the points, so that "no point" holds for the expressions themselves.
class LinearSystem {
 public:
  explicit LinearSystem(ir::ExprContext& exprs) : exprs_(&exprs) {}

  /// e >= 0, or e == 0, for good. A row whose coefficients do not fit is left out, which again makes a superset.
  void assume(ir::Expr e, bool is_equality = false);
  /// The same until it is forgotten.
  void add(ir::Expr e, bool is_equality = false);
  void add(LinearRow row) { rows_.push_back(std::move(row)); }
  /// Forgets the rows after the first `count`; their variables stay, and are in the way of nothing.
  void truncate(std::size_t count) { rows_.resize(count); }

  /// The row of an expression's value, its variables made where they are new, with those of the operands of what is
  /// not linear: asking for these makes none. Nothing where it does not fit.
  [[nodiscard]] std::optional<LinearRow> row_of(ir::Expr e);

  [[nodiscard]] int variable_count() const { return static_cast<int>(variables_.size()); }
  /// What a variable stands for; not valid for the multiples in a congruence.
  [[nodiscard]] ir::Expr variable(int index) const { return variables_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const std::vector<LinearRow>& assumptions() const { return assumptions_; }
  /// Upper bounds of variables that are far off.
  [[nodiscard]] const std::vector<LinearRow>& far_bounds() const { return far_bounds_; }
  /// What was added.
  [[nodiscard]] const std::vector<LinearRow>& rows() const { return rows_; }
  /// What a variable satisfies of itself.
  [[nodiscard]] const std::vector<LinearRow>& definition(int index) const {
    return definitions_[static_cast<std::size_t>(index)];
  }

 private:
  [[nodiscard]] std::optional<LinearRow> make_row(ir::Expr e);
  int variable_of(ir::Expr e);
  int new_variable(ir::Expr e);
  void define(ir::Expr e, int variable);
  void define_floordiv(ir::Expr e, int variable);
  void define_mod(ir::Expr e, int variable);
  void define_product(ir::Expr e, int variable);
  void define_minmax(ir::Expr e, int variable);
  void define(int variable, LinearRow row) {
    definitions_[static_cast<std::size_t>(variable)].push_back(std::move(row));
  }
  void bound(int variable, const ir::Range& range);
  /// sign * variable + row >= 0, for a row that is there.
  void add_difference(int variable, int sign, const std::optional<LinearRow>& row, Int128 constant = 0);
  bool append(LinearRow& row, ir::Expr term, Int128 coefficient);

  ir::ExprContext* exprs_;  // borrowed
  std::vector<ir::Expr> variables_;
  std::map<std::uint32_t, int> ids_;                                  // by Expr::id
  std::unordered_map<std::uint32_t, std::optional<LinearRow>> made_;  // by Expr::id
  std::vector<std::vector<LinearRow>> definitions_;                   // by variable
  std::vector<LinearRow> far_bounds_;
  std::vector<LinearRow> assumptions_;
  std::vector<LinearRow> rows_;
};

/// Whether an expression that is a variable means what its rows say: a symbol, or a quotient by a literal.
[[nodiscard]] bool is_linear(ir::Expr e);
[[nodiscard]] bool is_minmax(ir::Expr e);

/// a + factor * b; nothing where it does not fit 100 bits.
[[nodiscard]] std::optional<LinearRow> added(const LinearRow& a, const LinearRow& b, Int128 factor);

}  // namespace padlock::solver
