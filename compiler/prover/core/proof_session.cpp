#include "compiler/prover/core/proof_session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/steps.h"

namespace padlock::compiler {

ProofSession::ProofSession(const Kernel& kernel, const ProverOptions& options)
    : kernel_(kernel),
      exprs_(kernel.program->exprs()),
      limits_(options.limits),
      explains_(options.explain),
      feasibility_(exprs_, limits_, options.solver),
      calls_before_(feasibility_.solver().calls()) {
  for (const ir::Requirement& requirement : kernel.program->requirements()) {
    // An unused stride need not match the parameter's declaration.
    if (requirement.kind == ir::Requirement::Kind::parameter_stride) continue;
    const auto [e, is_equality] = as_expression(exprs_, requirement.constraint);
    (is_equality ? assumptions_.zero : assumptions_.nonnegative).push_back(e);
    feasibility_.assume(e, is_equality);
  }
  for (std::uint32_t i = 0; i < exprs_.symbol_count(); ++i)
    if (exprs_.symbol(i).kind != ir::SymbolKind::coordinate)
      symbols_.push_back(*exprs_.find_symbol(exprs_.symbol(i).name));
}

std::string ProofSession::text(const std::vector<ir::Constraint>& conditions) const {
  constexpr std::size_t kCharacters = 400;
  std::string all;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (all.size() > kCharacters) return fmt::format("{} and {} more", all, conditions.size() - i);
    const auto& [lhs, comparison, rhs] = conditions[i];
    all += fmt::format("{}{} {} {}", all.empty() ? "" : " and ", text(lhs), name_of(comparison), text(rhs));
  }
  return all;
}

Status ProofSession::check_assumptions() {
  if (feasibility_.linear_part({}) != solver::Answer::Kind::empty) return {};
  return failed_precondition(fmt::format("program '{}' admits no sizes: {}", kernel_.program->name(),
                                         fmt::join(contradiction({}), " contradicts ")));
}

Obligation ProofSession::decide(ObligationKind kind, std::string access, const solver::Region& region,
                                const std::vector<Goal>& goals) {
  Obligation obligation{.kind = kind, .access = std::move(access)};
  for (const Goal& goal : goals) {
    solver::Answer answer = feasibility_.ask(region, goal.violated);
    if (answer.kind == solver::Answer::Kind::found)
      answer = feasibility_.find_point(region, goal.violated, symbols_, guesses());
    else if (answer.kind == solver::Answer::Kind::undecided)
      if (solver::Answer guessed = feasibility_.find_guessed(region, goal.violated, symbols_, guesses());
          guessed.kind == solver::Answer::Kind::found)
        answer = std::move(guessed);
    if (answer.kind == solver::Answer::Kind::found) {
      obligation.verdict = Verdict::refuted;
      obligation.found = example_at(answer.point, goal);
      return obligation;
    }
    if (answer.kind != solver::Answer::Kind::undecided) continue;
    obligation.verdict = Verdict::checked;
    obligation.reason = fmt::format("whether {} >= 0 is possible: {}", text(goal.violated.front()), answer.reason);
  }
  return obligation;
}

const std::vector<solver::Values64>& ProofSession::guesses() {
  if (!guesses_) guesses_ = solver::ordinary_sizes(exprs_, assumptions_, feasibility_.determined());
  return *guesses_;
}

std::vector<Expr> ProofSession::often_negative(const std::vector<Expr>& expressions) {
  constexpr std::size_t kFew = 16;
  std::vector<solver::Values64> rest = guesses();
  std::vector<Expr> chosen, others;
  for (const Expr e : expressions) {
    if (e.range().lo >= 0) continue;
    take_steps(rest.size());
    const auto erased = std::erase_if(rest, [&](const solver::Values64& sizes) {
      const Result<Int128> value = ir::evaluate(exprs_, e, sizes);
      return value && *value < 0;
    });
    (erased > 0 ? chosen : others).push_back(e);
  }
  if (chosen.empty() && !guesses().empty()) return {};
  for (std::size_t i = 0; i < others.size() && chosen.size() < kFew; ++i) chosen.push_back(others[i]);
  return chosen;
}

std::vector<std::string> ProofSession::why_dead(const solver::Region& region) {
  if (feasibility_.linear_part(region) != solver::Answer::Kind::empty) return {};
  return explains_ ? contradiction(region) : std::vector<std::string>{"no point"};
}

Counterexample ProofSession::example_at(const solver::Point& point, const Goal& goal) {
  std::vector<std::int64_t> values(exprs_.symbol_count(), 0);
  Counterexample example;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const ir::Symbol& symbol = exprs_.symbol(i);
    if (const auto at = point.find(i); at != point.end())
      values[i] = at->second;
    else if (symbol.range.lo > 0)
      values[i] = static_cast<std::int64_t>(symbol.range.lo);
    if (symbol.kind != ir::SymbolKind::coordinate) example.sizes.emplace_back(symbol.name, values[i]);
  }
  for (const auto& [index, value] : point)
    if (const ir::Symbol& symbol = exprs_.symbol(index); symbol.kind == ir::SymbolKind::coordinate)
      example.where.emplace_back(symbol.name.substr(symbol.name.size() > 2 && symbol.name[1] > '9' ? 1 : 0), value);
  example.violation = goal.describe([&](Expr e) {
    const Result<Int128> value = ir::evaluate(exprs_, e, values);
    return value && fits_int64(*value) ? static_cast<std::int64_t>(*value) : 0;
  });
  return example;
}

std::vector<std::string> ProofSession::contradiction(const solver::Region& region) {
  struct Term {
    Expr e;
    bool zero;
  };
  std::vector<Term> conditions;
  for (const solver::Region* part : {static_cast<const solver::Region*>(&assumptions_), &region}) {
    for (const Expr e : part->nonnegative) conditions.push_back({e, false});
    for (const Expr e : part->zero) conditions.push_back({e, true});
  }
  const auto still_empty = [&](std::size_t without) {
    solver::Feasibility fewer(exprs_, limits_, &feasibility_.solver());
    solver::Region rest;
    for (std::size_t i = 0; i < conditions.size(); ++i)
      if (i != without) (conditions[i].zero ? rest.zero : rest.nonnegative).push_back(conditions[i].e);
    return fewer.linear_part(rest) == solver::Answer::Kind::empty;
  };
  const StepBudget steps(explain_steps_left_);
  for (std::size_t i = conditions.size(); i-- > 0 && !steps.is_used_up();)
    if (still_empty(i)) conditions.erase(conditions.begin() + static_cast<std::ptrdiff_t>(i));
  explain_steps_left_ -= steps.taken();
  feasibility_.grant(steps.taken());  // verdicts do not depend on whether they are explained
  std::vector<std::string> texts;
  for (const Term& c : conditions) texts.push_back(fmt::format("{} {} 0", text(c.e), c.zero ? "==" : ">="));
  return texts;
}

}  // namespace padlock::compiler
