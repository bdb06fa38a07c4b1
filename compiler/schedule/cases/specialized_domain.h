#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "ir/expr/constraint.h"
#include "support/steps.h"

namespace padlock::compiler {

/// Ends the questions of a kernel's domains. Once it is used up nothing more is known, which keeps predicates but is
/// never wrong.
struct SpecialisationBudget {
  std::int64_t proof;  ///< facts that all domains together may still look at
  StepBudget steps;    ///< of one specialisation, however many and long its expressions are
  [[nodiscard]] bool is_used_up() const { return proof <= 0 || steps.is_used_up(); }
};

/// Part of the output (rows that pass some tests, a range of columns) with the facts known in it, and the kernel's
/// roots specialised by them.
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
  /// At least one of the conditions fails.
  void learn_fails(std::vector<ConditionId> conditions);

  /// Returns true or false where that is proved for every element of the domain, else nothing.
  [[nodiscard]] std::optional<bool> known(ir::Expr nonnegative);
  [[nodiscard]] std::optional<bool> known(ConditionId id, const Condition& rewritten);

  /// Rewrites the roots by what is known: resolved selections disappear, resolved conditions leave the guards, min, max
  /// and mod that are decided become affine.
  void specialise();

  /// The conditions of the outermost undecided selection that do not involve the innermost axis; empty where none is.
  [[nodiscard]] std::vector<ConditionId> row_question();
  /// An affine expression in the innermost coordinate whose sign decides the outermost undecided predicate or index
  /// map; nothing where all are decided, or the rest cannot be (periods, several laps).
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
  std::vector<std::vector<ConditionId>> failing_;  // of each at least one fails; sorted
  std::vector<NodeId> roots_;
  std::map<std::uint32_t, std::optional<bool>> answers_;  // by Expr::id; what is known so far
  std::map<std::uint32_t, ir::Expr> rewritten_;           // by Expr::id
};

}  // namespace padlock::compiler
