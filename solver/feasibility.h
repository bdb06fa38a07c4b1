#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "solver/integer_solver.h"
#include "solver/linear_system.h"
#include "solver/search_limits.h"
#include "support/steps.h"

namespace padlock::solver {

/// A set of points: values of symbols, coordinates and schedule variables.
struct Region {
  std::vector<ir::Expr> nonnegative;  ///< each is >= 0
  std::vector<ir::Expr> zero;         ///< each is 0
  /// In each list at least one is >= 0.
  std::vector<std::vector<ir::Expr>> alternatives;
};

/// Values by symbol index.
using Point = std::map<std::uint32_t, std::int64_t>;
using Values64 = std::vector<std::int64_t>;

/// Expressions by the symbol index that they are equal to.
using Determined = std::map<std::uint32_t, ir::Expr>;

struct Answer {
  enum class Kind : std::uint8_t {
    empty,      ///< there is no point, for any values of the symbols
    found,      ///< `point` is in the region: every expression was evaluated there
    undecided,  ///< neither is shown; `reason` says why the search ended
  };
  Kind kind = Kind::undecided;
  Point point;
  std::string reason;
};

/// Decides whether a region has a point under assumptions that all questions share. A simplex solves the linear part.
/// If its point contradicts a nonlinear expression, the expression is split into cases (which operand is the minimum,
/// what the quotient is, a factor below, at or above its value). Splitting ends when no case is left or a point
/// satisfies all expressions.
///
/// Errors of the solver and exhausted budgets end as `undecided`, never as `empty`. Not thread-safe.
class Feasibility {
 public:
  /// `connected`: examines only expressions connected with the goal; a question that needs more is answered `found`.
  enum class Effort : std::uint8_t { connected, full, point };

  /// Borrows `solver`, so that several can share one; null: it has its own.
  explicit Feasibility(ir::ExprContext& exprs, SearchLimits limits = {}, IntegerSolver* solver = nullptr)
      : exprs_(exprs), limits_(limits), system_(exprs), solver_(solver != nullptr ? *solver : own_solver_) {}

  /// Assumes e >= 0, or e == 0, in all later questions.
  void assume(ir::Expr e, bool is_equality = false);

  /// Asks whether `region` has a point where all of `goal` is >= 0 too, as far as the region is connected with the
  /// goal. `found` means "not shown to be empty" and comes without a point.
  [[nodiscard]] Answer ask(const Region& region, const std::vector<ir::Expr>& goal, Effort effort = Effort::full);
  /// Finds a point of the whole region and the goal. Tries symbols in `small` between -bound and bound for bounds of 4,
  /// 16, 64 and 1024, then any point. Tries the guesses after the first bound.
  [[nodiscard]] Answer find_point(const Region& region, const std::vector<ir::Expr>& goal,
                                  const std::vector<ir::Expr>& small, const std::vector<Values64>& guesses = {});
  /// Finds a point with the sizes of a guess; each guess satisfies the assumptions. With numbers for symbols, no
  /// product is left to search. Never `empty`.
  [[nodiscard]] Answer find_guessed(const Region& region, const std::vector<ir::Expr>& goal,
                                    const std::vector<ir::Expr>& sizes, const std::vector<Values64>& guesses);
  /// Solves the linear part of the region (assumptions included). `empty`: shown to have no point, so every statement
  /// about the region is vacuous. `found`: it has a point. Else `undecided`.
  [[nodiscard]] Answer::Kind linear_part(const Region& region);

  /// Symbols that assumed equations determine, with their expressions.
  [[nodiscard]] const Determined& determined() const { return determined_; }
  [[nodiscard]] IntegerSolver& solver() { return solver_; }
  /// Adds steps to the budget: those that the caller spent on something else.
  void grant(std::int64_t steps) { steps_.grant(steps); }

 private:
  enum class Scope : std::uint8_t {
    near,         ///< the goal, and rows that share a variable with it
    near_linked,  ///< and the operands of nonlinear expressions
    connected,    ///< rows connected with the goal
    linked,       ///< and the operands of nonlinear expressions
    likely,       ///< and everything linear
    full,         ///< everything
  };
  /// Variables and rows that a search considers.
  struct Selection {
    std::vector<int> variables;
    std::vector<int> index;  // by variable; -1: not selected
    // Rows of the system, valid until it changes. The first `goal_rows` are the goal and the chosen cases.
    std::vector<const LinearRow*> rows;
    std::size_t goal_rows = 0;
  };
  class Selector;
  static bool contradicts(const Selection& selection);
  using Values = std::map<int, Int128>;
  using Branch = std::vector<LinearRow>;

  Answer answer(const Region& region, const std::vector<ir::Expr>& goal, Effort effort);
  Answer search(const Region& region, std::size_t first_goal, Effort effort);
  Answer search_branches(const Region& region, std::size_t first_goal, Effort effort,
                         const std::vector<Branch>& branches);
  Result<std::optional<Values>> solve(const Selection& selection);
  Selection select(const Region& region, std::size_t first_goal, Scope scope);
  /// Returns the cases of the first definition that the values violate; empty if they violate none; nullopt if that
  /// definition cannot be split.
  std::optional<std::vector<Branch>> refine(const Region& region, const Values& values,
                                            const std::vector<int>& nearest_first);
  std::optional<std::vector<Branch>> cases_of(int variable, const Values& values);
  std::optional<std::vector<Branch>> minmax_cases(int variable, const Values& values);
  std::optional<std::vector<Branch>> quotient_cases(int variable, const Values& values);
  std::optional<std::vector<Branch>> product_cases(int variable, const Values& values);
  std::optional<std::vector<Branch>> division_case(int variable, const Values& values);
  std::optional<std::vector<Branch>> remainder_cases(int variable, const Values& values);
  std::optional<std::vector<Branch>> expanded_case(int variable, const Values& values);
  struct Ordered {
    ir::Expr f, g, h;
  };
  std::optional<std::vector<Branch>> order_cases(int variable, const Values& values);
  std::optional<std::vector<Branch>> order_cases(int variable, const Ordered& pair, const Values& values);
  std::optional<Int128> value_of(ir::Expr e, const Values& values);
  static std::optional<Int128> value_of(const LinearRow& row, const Values& values);
  std::optional<Branch> rows_of(std::vector<std::optional<LinearRow>> rows);
  bool multiply_assumptions(int variable);
  Answer accept(const Region& region, const std::vector<ir::Expr>& goal, const Values& values);
  void add(const Region& region);

  ir::ExprContext& exprs_;
  SearchLimits limits_;
  LinearSystem system_;
  IntegerSolver own_solver_;
  IntegerSolver& solver_;
  /// Replaces symbols that equations determine by the expressions they equal, so that equal products are one variable.
  [[nodiscard]] ir::Expr resolved(ir::Expr e);
  void determine(ir::Expr e);

  Region assumed_;
  Determined determined_;
  std::map<std::uint32_t, ir::Expr> resolved_;   // by Expr::id
  const std::vector<ir::Expr>* goal_ = nullptr;  // the current question's goal
  StepBudget steps_{limits_.steps};
  std::int64_t guess_steps_left_ = limits::kGuessSteps;
  int calls_left_ = 0;
  std::int64_t question_work_left_ = 0;
  StepBudget question_steps_{0};
  std::int64_t work_left_ = limits_.work;
  std::set<int> multiplied_;  // variables of products that assumptions were multiplied for
  static constexpr std::size_t kMaxMultiplied = 64;
};

}  // namespace padlock::solver
