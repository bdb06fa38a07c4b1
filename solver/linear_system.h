#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"
#include "solver/integer_solver.h"

namespace padlock::solver {

/// Expressions as linear rows over variables. Symbols and coordinates are variables; floordiv and mod by a literal are
/// exact, with a variable for the quotient. Each interned nonlinear expression (a product, a quotient by a symbol, min,
/// max) becomes a variable, too. Its rows are inequalities that hold for all operands. This relaxation is a superset of
/// the points, so "no point" holds for the expressions themselves.
class LinearSystem {
 public:
  explicit LinearSystem(ir::ExprContext& exprs) : exprs_(&exprs) {}

  /// Adds e >= 0, or e == 0, permanently. Leaves out a row whose coefficients do not fit, which again makes a superset.
  void assume(ir::Expr e, bool is_equality = false);
  /// Adds e >= 0, or e == 0, until `truncate` removes it.
  void add(ir::Expr e, bool is_equality = false);
  void add(LinearRow row) { rows_.push_back(std::move(row)); }
  /// Removes the rows after the first `count`. Their variables are kept; without rows they are unconstrained.
  void truncate(std::size_t count) { rows_.resize(count); }

  /// Returns the row of an expression's value; nullopt if it does not fit. Creates new variables, also for the operands
  /// of nonlinear expressions, so that later requests for these create none.
  [[nodiscard]] std::optional<LinearRow> row_of(ir::Expr e);

  [[nodiscard]] int variable_count() const { return static_cast<int>(variables_.size()); }
  /// The expression that a variable stands for; invalid for the multiples in a congruence.
  [[nodiscard]] ir::Expr variable(int index) const { return variables_[static_cast<std::size_t>(index)]; }
  /// Returns whether a variable's rows define it exactly: a symbol, or a quotient by a literal.
  [[nodiscard]] bool is_linear(int index) const { return linear_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] bool is_minmax(int index) const { return minmax_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const std::vector<LinearRow>& assumptions() const { return assumptions_; }
  /// Numbers of the assumptions that mention a variable, ascending.
  [[nodiscard]] std::span<const std::size_t> assumptions_of(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return at < assumptions_of_.size() ? std::span<const std::size_t>(assumptions_of_[at])
                                       : std::span<const std::size_t>();
  }
  /// Returns whether some assumption is the opposite of a row and excludes it. Most questions end there.
  [[nodiscard]] bool assumptions_exclude(const LinearRow& row) const;
  /// Upper bounds of variables that are very large.
  [[nodiscard]] const std::vector<LinearRow>& far_bounds() const { return far_bounds_; }
  /// Rows that `add` added.
  [[nodiscard]] const std::vector<LinearRow>& rows() const { return rows_; }
  /// Rows that a variable satisfies by its definition.
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
  /// Defines sign * (variable - row) + constant >= 0, if there is a row and the sum fits.
  void add_difference(int variable, int sign, const std::optional<LinearRow>& row, Int128 constant = 0);
  bool append(LinearRow& row, ir::Expr term, Int128 coefficient);

  ir::ExprContext* exprs_;  // borrowed
  std::vector<ir::Expr> variables_;
  std::vector<bool> linear_, minmax_;  // by variable; cheaper than looking at its expression
  std::map<std::uint32_t, int> ids_;   // by Expr::id
  std::unordered_map<std::uint32_t, std::optional<LinearRow>> made_;  // by Expr::id
  std::vector<std::vector<LinearRow>> definitions_;                   // by variable
  std::vector<LinearRow> far_bounds_;
  std::vector<LinearRow> assumptions_;
  std::vector<std::vector<std::size_t>> assumptions_of_;              // by variable; omits a last part without any
  std::unordered_multimap<std::uint64_t, std::size_t> inequalities_;  // assumptions by a hash of their terms
  std::vector<LinearRow> rows_;
};

[[nodiscard]] bool is_minmax(ir::Expr e);

/// Returns whether two inequalities have opposite terms and constants that exclude each other.
[[nodiscard]] bool exclude_each_other(const LinearRow& a, const LinearRow& b);

/// Returns a + factor * b; nullopt if it does not fit 100 bits.
[[nodiscard]] std::optional<LinearRow> added(const LinearRow& a, const LinearRow& b, Int128 factor);

}  // namespace padlock::solver
