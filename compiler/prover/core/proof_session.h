#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/prover/core/proof.h"
#include "compiler/prover/core/proven_kernel.h"
#include "solver/feasibility.h"
#include "solver/ordinary_sizes.h"
#include "support/limits.h"

namespace padlock::compiler {

/// The values of expressions at a point.
using Evaluate = std::function<std::int64_t(ir::Expr)>;

/// A way to violate an obligation: all of `violated` are >= 0. `describe` puts the violation at a point into words.
struct Goal {
  std::vector<ir::Expr> violated;
  std::function<std::string(const Evaluate&)> describe;
};

/// Decides obligations of one kernel under its program's requirements of every binding.
class ProofSession {
 public:
  ProofSession(const Kernel& kernel, const ProverOptions& options);

  /// Error (failed_precondition) if the program's requirements contradict each other: no sizes are admitted, and any
  /// proof would be vacuous.
  [[nodiscard]] Status check_assumptions();

  /// Returns whether no point of `region` satisfies all of `violated`. Also false if the conditions connected with them
  /// do not decide it.
  [[nodiscard]] bool excludes(const solver::Region& region, const std::vector<ir::Expr>& violated) {
    return feasibility_.ask(region, violated, solver::Feasibility::Effort::connected).kind ==
           solver::Answer::Kind::empty;
  }

  /// Decides the goals in order. Proved if every goal is impossible; refuted, with a small counter-example, by the
  /// first possible one; else checked.
  [[nodiscard]] Obligation decide(ObligationKind kind, std::string access, const solver::Region& region,
                                  const std::vector<Goal>& goals);
  /// Returns a few expressions over sizes. At each ordinary size where some expression is negative, one of these is.
  /// Empty if none is negative at any known ordinary size.
  [[nodiscard]] std::vector<ir::Expr> often_negative(const std::vector<ir::Expr>& expressions);
  /// Returns why a region has no point: a minimal list of conditions that contradict each other. Empty if it has a
  /// point or that is undecided.
  [[nodiscard]] std::vector<std::string> why_dead(const solver::Region& region);

  [[nodiscard]] std::string text(ir::Expr e) const { return ir::to_string(exprs_, e, 200); }
  /// Joins conditions by "and". Of many only the first, since many obligations may repeat them.
  [[nodiscard]] std::string text(const std::vector<ir::Constraint>& conditions) const;
  [[nodiscard]] ir::ExprContext& exprs() { return exprs_; }
  [[nodiscard]] const Kernel& kernel() const { return kernel_; }
  [[nodiscard]] const solver::SearchLimits& limits() const { return limits_; }
  [[nodiscard]] solver::IntegerSolver& solver() { return feasibility_.solver(); }
  [[nodiscard]] std::int64_t solver_calls() { return feasibility_.solver().calls() - calls_before_; }

 private:
  /// Sizes that satisfy the assumptions.
  [[nodiscard]] const std::vector<solver::Values64>& guesses();
  [[nodiscard]] Counterexample example_at(const solver::Point& point, const Goal& goal);
  /// Returns contradictory conditions, none of which can be left out (beyond limits::kExplainSteps some can).
  [[nodiscard]] std::vector<std::string> contradiction(const solver::Region& region);

  const Kernel& kernel_;  // borrowed
  ir::ExprContext& exprs_;
  solver::SearchLimits limits_;
  bool explains_;
  solver::Region assumptions_;
  std::vector<ir::Expr> symbols_;                         // of the program, in order
  std::optional<std::vector<solver::Values64>> guesses_;  // made where they are needed first
  solver::Feasibility feasibility_;
  std::int64_t explain_steps_left_ = limits::kExplainSteps;
  std::int64_t calls_before_;  // calls of a shared solver before this session
};

}  // namespace padlock::compiler
