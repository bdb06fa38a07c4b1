#include "compiler/schedule/cases/specialized_domain.h"

#include <algorithm>

#include "ir/expr/affine.h"
#include "ir/expr/simplify.h"

namespace padlock::compiler {

using ir::ExprKind;

void SpecializedDomain::learn(Expr nonnegative) {
  facts_.add({nonnegative, ir::Comparison::ge, kernel_->program->exprs().constant(0)});
  ++fact_count_;
  answers_.clear();
  rewritten_.clear();
}

void SpecializedDomain::learn_holds(const std::vector<ConditionId>& conditions) {
  for (const ConditionId id : conditions) {
    holding_.insert(id);
    const Condition& condition = kernel_->graph.condition(id);
    if (condition.kind == Condition::Kind::nonnegative) learn(condition.expr);
  }
}

void SpecializedDomain::learn_fails(std::vector<ConditionId> conditions) {
  if (conditions.size() == 1) {
    const Condition& condition = kernel_->graph.condition(conditions.front());
    ir::ExprContext& exprs = kernel_->program->exprs();
    if (condition.kind == Condition::Kind::nonnegative) learn(exprs.sub(exprs.neg(condition.expr), exprs.constant(1)));
  }
  failing_.push_back(std::move(conditions));
}

std::optional<bool> SpecializedDomain::known(Expr e) {
  const auto [it, inserted] = answers_.try_emplace(e.id());
  if (!inserted) return it->second;
  if (budget_->is_used_up()) return std::nullopt;
  // A question looks at each fact at least once, term by term.
  budget_->proof -= static_cast<std::int64_t>((e.operands().size() + 1) * fact_count_);
  ir::ExprContext& exprs = kernel_->program->exprs();
  std::optional<bool> answer;
  if (facts_.proves_nonnegative(e))
    answer = true;
  else if (facts_.proves_positive(exprs.neg(e)))
    answer = false;
  return answers_[e.id()] = answer;
}

std::optional<bool> SpecializedDomain::known(ConditionId id, const Condition& condition) {
  if (holding_.contains(id)) return true;
  if (condition.kind == Condition::Kind::nonnegative) return known(condition.expr);
  if (condition.expr.is_constant()) return condition.expr.constant() == 0;
  return std::nullopt;
}

/// Returns the value of a conjunction; `remaining` gets its undecided conditions.
std::optional<bool> SpecializedDomain::predicate_value(PredicateId id, PredicateId& remaining) {
  const auto span = kernel_->graph.conditions_of(id);
  const std::vector<ConditionId> conditions(span.begin(), span.end());
  for (const auto& failing : failing_)
    if (std::ranges::includes(conditions, failing)) return false;
  std::vector<ConditionId> open;
  for (const ConditionId condition : conditions) {
    Condition rewritten = kernel_->graph.condition(condition);
    rewritten.expr = rewrite(rewritten.expr);
    const std::optional<bool> value = known(condition, rewritten);
    if (value == false) return false;
    // A row's test keeps its own name, by which `failing_` knows it.
    if (!value) open.push_back(mentions(rewritten.expr, column()) ? kernel_->graph.add(rewritten) : condition);
  }
  remaining = kernel_->graph.conjunction(std::move(open));
  return remaining == kAlways ? std::optional(true) : std::nullopt;
}

void SpecializedDomain::specialise() {
  budget_->steps = StepBudget(budget_->steps.limit());
  const std::vector<NodeId> order = users_first(kernel_->graph, roots_);
  std::map<NodeId, NodeId> renamed;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node node = kernel_->graph.node(*it);
    PredicateId remaining = kAlways;
    if (node.kind == NodeKind::when) {
      if (const std::optional<bool> value = predicate_value(node.guard, remaining)) {
        renamed[*it] = renamed.at(node.operands[*value ? 0 : 1]);
        continue;
      }
    } else if (node.kind == NodeKind::load) {
      // A load whose guard fails is not reachable, so its result does not matter.
      if (predicate_value(node.guard, remaining) == false) remaining = node.guard;
    }
    Node copy = rewrite(node, renamed);
    copy.guard = remaining;
    renamed[*it] = kernel_->graph.add(std::move(copy));
  }
  for (NodeId& root : roots_) root = renamed.at(root);
}

Node SpecializedDomain::rewrite(const Node& node, const std::map<NodeId, NodeId>& renamed) {
  Node copy = node;
  // Walks of sums and searches stay as they are: an equal expression may not show the ranges that the proof needs.
  if (node.kind == NodeKind::load || node.kind == NodeKind::index)
    for (Expr& c : copy.coordinates) c = rewrite(c);
  for (Expr& fact : copy.facts) fact = rewrite(fact);
  for (NodeId& operand : copy.operands) operand = renamed.at(operand);
  for (NodeId& data : copy.data)
    if (const auto it = renamed.find(data); it != renamed.end()) data = it->second;  // else data of a row
  return copy;
}

/// Rebuilds an expression; min, max and mod over the innermost coordinate are replaced if they are decided.
Expr SpecializedDomain::rewrite(Expr e) {
  if (!e.has_coordinate() || e.kind() == ExprKind::symbol) return e;
  if (const auto it = rewritten_.find(e.id()); it != rewritten_.end()) return it->second;
  take_steps(4 + e.operands().size());
  std::vector<Expr> operands;
  for (const Expr operand : e.operands()) operands.push_back(rewrite(operand));
  const bool stays = budget_->is_used_up() && std::ranges::equal(operands, e.operands());  // nothing more becomes known
  const Expr result = stays ? e : decide(e, operands);
  rewritten_.insert_or_assign(e.id(), result);
  return result;
}

Expr SpecializedDomain::decide(Expr e, const std::vector<Expr>& operands) {
  ir::ExprContext& exprs = kernel_->program->exprs();
  switch (e.kind()) {
    case ExprKind::constant:
    case ExprKind::symbol:
      return e;
    case ExprKind::sum:
      return ir::Simplifier::sum(exprs, e.constant(), operands, e.coefficients());
    case ExprKind::product:
      return ir::Simplifier::product(exprs, operands);
    case ExprKind::floordiv:
      return exprs.floordiv(operands[0], operands[1]);
    case ExprKind::mod:
      return decide_mod(operands[0], operands[1]);
    case ExprKind::min:
    case ExprKind::max: {
      const bool is_min = e.kind() == ExprKind::min;
      Expr chosen = operands[0];
      for (std::size_t i = 1; i < operands.size(); ++i) {
        // In both directions: a tie may be open, and then either will do.
        const bool above = known(exprs.sub(chosen, operands[i])) == true;
        const bool below = known(exprs.sub(operands[i], chosen)) == true;
        if (above || below)
          chosen = above == is_min ? operands[i] : chosen;
        else
          chosen = is_min ? exprs.min(chosen, operands[i]) : exprs.max(chosen, operands[i]);
      }
      return chosen;
    }
  }
  return e;
}

/// Makes mod affine for one lap either side; further laps keep the mod.
Expr SpecializedDomain::decide_mod(Expr x, Expr period) {
  ir::ExprContext& exprs = kernel_->program->exprs();
  const Expr last = exprs.sub(period, exprs.constant(1));
  const std::optional<bool> nonnegative = known(x);
  if (nonnegative == true && known(exprs.sub(last, x)) == true) return x;
  if (nonnegative == true && known(exprs.sub(x, period)) == true &&
      known(exprs.sub(exprs.add(last, period), x)) == true)
    return exprs.sub(x, period);
  if (nonnegative == false && known(exprs.add(x, period)) == true) return exprs.add(x, period);
  return exprs.mod(x, period);
}

bool SpecializedDomain::is_of_row(Expr e) const {
  return !mentions(e, column()) &&
         std::ranges::none_of(kernel_->walk_variables, [&](const auto& walk) { return mentions(e, walk.variable); });
}

std::vector<ConditionId> SpecializedDomain::row_question() {
  if (budget_->is_used_up()) return {};
  for (const NodeId id : users_first(kernel_->graph, roots_)) {
    const Node& node = kernel_->graph.node(id);
    if (node.kind != NodeKind::when) continue;
    std::vector<ConditionId> rows;
    for (const ConditionId condition : kernel_->graph.conditions_of(node.guard))
      if (is_of_row(kernel_->graph.condition(condition).expr)) rows.push_back(condition);
    if (!rows.empty()) return rows;
  }
  return {};
}

std::optional<Expr> SpecializedDomain::column_question() {
  // An answer that cannot be used would be asked for again.
  if (budget_->is_used_up()) return std::nullopt;
  std::set<std::uint32_t> seen;
  for (const NodeId id : users_first(kernel_->graph, roots_)) {
    const Node& node = kernel_->graph.node(id);
    if (node.kind != NodeKind::when && node.kind != NodeKind::load) continue;
    for (const ConditionId c : kernel_->graph.conditions_of(node.guard)) {
      const Condition& condition = kernel_->graph.condition(c);
      if (auto question = question_of(condition.expr, seen)) return question;
      if (condition.kind == Condition::Kind::nonnegative)
        if (auto question = undecided(condition.expr)) return question;
    }
    for (const Expr coordinate : node.coordinates)
      if (auto question = question_of(coordinate, seen)) return question;
  }
  return std::nullopt;
}

/// Returns the expression itself if its sign is open and it is affine in the innermost coordinate.
std::optional<Expr> SpecializedDomain::undecided(Expr e) {
  const auto affine = affine_in(kernel_->program->exprs(), e, column());
  if (!affine || affine->slope == 0 || known(e)) return std::nullopt;
  return e;
}

/// Asks about an index map's innermost operations first: they are nearest to the output.
std::optional<Expr> SpecializedDomain::question_of(Expr e, std::set<std::uint32_t>& seen) {
  if (!e.has_coordinate() || !seen.insert(e.id()).second) return std::nullopt;
  for (const Expr operand : e.operands())
    if (auto question = question_of(operand, seen)) return question;
  if (e.kind() == ExprKind::mod) return question_of_mod(e.operands()[0], e.operands()[1]);
  if (e.kind() == ExprKind::min || e.kind() == ExprKind::max)
    for (std::size_t i = 1; i < e.operands().size(); ++i) {
      const Expr difference = kernel_->program->exprs().sub(e.operands()[0], e.operands()[i]);
      if (auto question = undecided(difference)) return question;
    }
  return std::nullopt;
}

std::optional<Expr> SpecializedDomain::question_of_mod(Expr x, Expr period) {
  ir::ExprContext& exprs = kernel_->program->exprs();
  if (auto question = undecided(x)) return question;
  const std::optional<bool> nonnegative = known(x);
  if (!nonnegative) return std::nullopt;
  const Expr last = exprs.sub(period, exprs.constant(1));
  if (*nonnegative) {
    if (auto question = undecided(exprs.sub(last, x))) return question;
    return known(exprs.sub(last, x)) == true ? std::nullopt : undecided(exprs.sub(exprs.add(last, period), x));
  }
  return undecided(exprs.add(x, period));
}

}  // namespace padlock::compiler
