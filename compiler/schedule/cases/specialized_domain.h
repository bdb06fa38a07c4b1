#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/constraint.h"
#include "support/steps.h"

namespace padlock::compiler {

/// Limits the questions of a kernel's domains. Once it is used up nothing more becomes known: predicates stay, and the
/// code stays right.
struct SpecialisationBudget {
  std::int64_t proof;  ///< facts that the questions of all domains may still look at
  StepBudget steps;    ///< for one specialisation, whatever its expressions
  [[nodiscard]] bool is_used_up() const { return proof <= 0 || steps.is_used_up(); }
};

/// Part of the output (rows that pass some tests, a range of columns), the facts known in it, and the kernel's roots
/// specialised by these facts.
class SpecializedDomain {
 public:
  /// `budget` is borrowed (outlives the domains).
  SpecializedDomain(Kernel& kernel, ir::Facts facts, std::vector<NodeId> roots, SpecialisationBudget& budget)
      : kernel_(&kernel),
        budget_(&budget),
        facts_(std::move(facts)),
        fact_count_(1 + kernel.program->constraints().size() + kernel.extents.size()),
        roots_(std::move(roots)) {}

  [[nodiscard]] const std::vector<NodeId>& roots() const { return roots_; }

  void learn(ir::Expr nonnegative);
  void learn_holds(const std::vector<ConditionId>& conditions);
  /// Learns that at least one of the conditions fails.
  void learn_fails(std::vector<ConditionId> conditions);

  /// Returns the truth of `nonnegative` >= 0 if it is proved for every element of the domain, else nothing.
  [[nodiscard]] std::optional<bool> known(ir::Expr nonnegative);
  [[nodiscard]] std::optional<bool> known(ConditionId id, const Condition& rewritten);

  /// Rewrites the roots by what is known: decided selections disappear, decided conditions leave the guards, and
  /// decided min, max and mod become affine.
  void specialise();

  /// Returns the outermost undecided selection's conditions without the innermost axis; empty if there are none.
  [[nodiscard]] std::vector<ConditionId> row_question();
  /// Returns an affine expression in the innermost coordinate whose sign decides the outermost undecided predicate or
  /// index map. Nothing if all are decided, or if no sign decides the rest (periods, several laps).
  [[nodiscard]] std::optional<ir::Expr> column_question();

 private:
  [[nodiscard]] std::optional<ir::Expr> question_of(ir::Expr e, std::set<std::uint32_t>& seen);
  [[nodiscard]] std::optional<ir::Expr> question_of_mod(ir::Expr x, ir::Expr period);
  [[nodiscard]] std::optional<ir::Expr> undecided(ir::Expr nonnegative);
  /// Returns whether an expression is the same in all columns of a row.
  [[nodiscard]] bool is_of_row(ir::Expr e) const;
  ir::Expr rewrite(ir::Expr e);
  ir::Expr decide(ir::Expr e, const std::vector<ir::Expr>& operands);
  ir::Expr decide_mod(ir::Expr x, ir::Expr period);
  Node rewrite(const Node& node, const std::map<NodeId, NodeId>& renamed);
  [[nodiscard]] std::optional<bool> predicate_value(PredicateId id, PredicateId& remaining);
  [[nodiscard]] ir::Expr column() const { return kernel_->coordinate(kernel_->rank() - 1); }

  Kernel* kernel_;                // borrowed
  SpecialisationBudget* budget_;  // borrowed
  ir::Facts facts_;
  std::size_t fact_count_;  // for the budget
  std::set<ConditionId> holding_;
  std::vector<std::vector<ConditionId>> failing_;  // sorted; at least one condition of each fails
  std::vector<NodeId> roots_;
  std::map<std::uint32_t, std::optional<bool>> answers_;  // by Expr::id; the known answers
  std::map<std::uint32_t, ir::Expr> rewritten_;           // by Expr::id
};

}  // namespace padlock::compiler
