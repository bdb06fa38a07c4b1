#include "ir/expr/constraint.h"

#include <algorithm>

#include "ir/expr/interval.h"
#include "ir/expr/simplify.h"
#include "support/limits.h"
#include "support/steps.h"

namespace padlock::ir {

std::string_view name_of(Comparison c) {
  switch (c) {
    case Comparison::le:
      return "<=";
    case Comparison::lt:
      return "<";
    case Comparison::eq:
      return "==";
    case Comparison::ge:
      return ">=";
    case Comparison::gt:
      return ">";
  }
  return "?";
}

std::string to_string(const ExprContext& context, const Constraint& c) {
  return to_string(context, c.lhs) + " " + std::string(name_of(c.comparison)) + " " + to_string(context, c.rhs);
}

bool holds(Int128 lhs, Comparison c, Int128 rhs) {
  switch (c) {
    case Comparison::le:
      return lhs <= rhs;
    case Comparison::lt:
      return lhs < rhs;
    case Comparison::eq:
      return lhs == rhs;
    case Comparison::ge:
      return lhs >= rhs;
    case Comparison::gt:
      return lhs > rhs;
  }
  return false;
}

std::pair<Expr, bool> as_expression(ExprContext& exprs, const Constraint& c) {
  const Expr one = exprs.constant(1);
  switch (c.comparison) {
    case Comparison::le:
      return {exprs.sub(c.rhs, c.lhs), false};
    case Comparison::lt:
      return {exprs.sub(exprs.sub(c.rhs, c.lhs), one), false};
    case Comparison::eq:
      return {exprs.sub(c.lhs, c.rhs), true};
    case Comparison::ge:
      return {exprs.sub(c.lhs, c.rhs), false};
    case Comparison::gt:
      return {exprs.sub(exprs.sub(c.lhs, c.rhs), one), false};
  }
  return {exprs.constant(0), true};
}

namespace {

constexpr int kBudget = 2000;              // goals per question: well below a millisecond
constexpr std::size_t kFoundInAStep = 16;  // comparisons of a term with others, per step
constexpr int kDepth = 4;                  // steps from the question to a fact that the ranges show

/// Decides one question, whether a linear form is >= 0, by searching for a smaller form that is.
class Question {
 public:
  Question(ExprContext& context, const std::vector<LinearForm>& facts) : context_(context), facts_(facts) {}

  bool nonnegative(LinearForm goal, int depth = kDepth) {
    if (--budget_ < 0 || steps_.is_used_up()) return false;
    take_steps(1 + goal.terms.size());
    if (const Int128 g = common_divisor(goal); g > 1) goal = floor_divided(goal, g);
    if (range_of(goal).lo >= 0) return true;
    if (depth == 0) return false;
    return by_terms(goal, depth - 1) || by_fact(goal, depth - 1) || by_common_factor(goal, depth - 1) ||
           by_bound(goal, depth - 1);
  }

 private:
  using MaybeForm = std::optional<LinearForm>;

  bool nonnegative(const MaybeForm& goal, int depth) { return goal && nonnegative(*goal, depth); }
  bool nonnegative(Expr e, int depth) { return e.range().lo >= 0 || nonnegative(LinearForm::of(e), depth); }

  bool nonpositive(Expr e, int depth) { return e.range().hi <= 0 || nonnegative(scaled(LinearForm::of(e), -1), depth); }

  // Returns 1 if the term is shown >= 0, -1 if shown <= 0, else 0.
  int sign(Expr term, int depth) {
    if (term.range().lo >= 0) return 1;
    if (term.range().hi <= 0) return -1;
    if (term.kind() != ExprKind::product) return 0;  // facts about single terms are tried elsewhere
    int sign = 1;
    const auto factors = term.operands();
    for (std::size_t i = 0; i < factors.size() && sign != 0; ++i) {
      if (i + 1 < factors.size() && factors[i] == factors[i + 1]) {
        ++i;  // a square
        continue;
      }
      if (nonnegative(factors[i], depth)) continue;
      sign = nonpositive(factors[i], depth) ? -sign : 0;
    }
    return sign;
  }

  // Shown if every term and the constant are >= 0.
  bool by_terms(const LinearForm& goal, int depth) {
    if (goal.constant < 0) return false;
    for (std::size_t i = 0; i < goal.terms.size(); ++i) {
      const int s = sign(goal.terms[i], depth);
      if (s == 0 || (s > 0) != (goal.coefficients[i] > 0)) return false;
    }
    return true;
  }

  // Shows goal - k * fact >= 0 for a k >= 1 that cancels a term.
  bool by_fact(const LinearForm& goal, int depth) {
    for (const LinearForm& fact : facts_) {
      take_steps(1 + goal.terms.size() * fact.terms.size() / kFoundInAStep);
      Int128 tried = 0;
      for (std::size_t i = 0; i < fact.terms.size(); ++i) {
        const Int128 c = goal.coefficient_of(fact.terms[i]);
        if (c == 0 || (c > 0) != (fact.coefficients[i] > 0)) continue;
        const Int128 k = std::max<Int128>(saturate(c) / fact.coefficients[i], 1);
        if (k == tried) continue;
        tried = k;
        if (nonnegative(added(goal, fact, -k), std::min(depth, 2))) return true;
      }
    }
    return false;
  }

  // Shows f * x >= 0 from f >= 0 and x >= 0.
  bool by_common_factor(const LinearForm& goal, int depth) {
    if (goal.constant != 0 || goal.terms.size() < 2) return false;
    const auto factors_of = [](const Expr& e) {
      return e.kind() == ExprKind::product ? e.operands() : std::span<const Expr>(&e, 1);
    };
    for (const Expr factor : factors_of(goal.terms[0])) {
      MaybeForm rest = LinearForm{};
      for (std::size_t i = 0; i < goal.terms.size() && rest; ++i) {
        const auto factors = factors_of(goal.terms[i]);
        const auto found = std::ranges::find(factors, factor);
        if (found == factors.end()) {
          rest.reset();
          break;
        }
        std::vector<Expr> others(factors.begin(), found);
        others.insert(others.end(), found + 1, factors.end());
        const Expr quotient =
            others.empty() ? context_.constant(1) : Simplifier::make(context_, ExprKind::product, std::move(others));
        rest = added(*rest, LinearForm::of(quotient), goal.coefficients[i]);
      }
      if (rest && nonnegative(factor, depth) && nonnegative(rest, depth)) return true;
    }
    return false;
  }

  // Replaces one term by its bounds.
  bool by_bound(const LinearForm& goal, int depth) {
    for (std::size_t i = 0; i < goal.terms.size(); ++i) {
      const Expr term = goal.terms[i];
      const Int128 c = goal.coefficients[i];
      const auto with = [&](Expr bound) -> MaybeForm {
        const auto rest = added(goal, LinearForm::of(term), -c);
        return rest ? added(*rest, LinearForm::of(bound), c) : std::nullopt;
      };
      switch (term.kind()) {
        case ExprKind::min:
        case ExprKind::max:
          return by_choice(term, (term.kind() == ExprKind::max) == (c > 0), with, depth);
        case ExprKind::mod:  // <= divisor - 1
          if (c < 0) return nonnegative(with(context_.sub(term.operands()[1], context_.constant(1))), depth);
          break;
        case ExprKind::floordiv:
          if (term.operands()[1].is_constant()) return by_quotient(goal, term, c, depth);
          break;
        default:
          break;
      }
    }
    return false;
  }

  // A minimum or maximum equals one of its operands, and each operand bounds it on one side.
  bool by_choice(Expr term, bool any, auto&& with, int depth) {
    const auto shown = [&](Expr operand) { return nonnegative(with(operand), depth); };
    return any ? std::ranges::any_of(term.operands(), shown) : std::ranges::all_of(term.operands(), shown);
  }

  // q = x floordiv d gives x - d + 1 <= d*q <= x. Since the goal is an integer, d * goal > -d suffices.
  bool by_quotient(const LinearForm& goal, Expr q, Int128 c, int depth) {
    const Int128 d = q.operands()[1].constant();
    if (d < 1) return false;
    auto bound = LinearForm::of(q.operands()[0]);
    if (c > 0) {
      const auto low = checked_sub<Int128>(bound.constant, d - 1);
      if (!low) return false;
      bound.constant = *low;
    }
    const auto rest = added(goal, LinearForm::of(q), -c);
    const auto times_d = rest ? scaled(*rest, d) : std::nullopt;
    const auto least = times_d ? added(*times_d, bound, c) : std::nullopt;
    return least && nonnegative(added(*least, {1, {}, {}}, d - 1), depth);
  }

  ExprContext& context_;  // borrowed (outlives the question)
  const std::vector<LinearForm>& facts_;
  int budget_ = kBudget;
  StepBudget steps_{limits::kQuestionSteps};
};

/// An inequality as lhs - rhs - margin >= 0.
struct AtLeast {
  Expr lhs, rhs;
  Int128 margin;

  [[nodiscard]] std::optional<LinearForm> form() const {
    const auto difference = added(LinearForm::of(lhs), LinearForm::of(rhs), -1);
    return difference ? added(*difference, {1, {}, {}}, -margin) : std::nullopt;
  }
};

/// Returns a comparison as one inequality. Precondition: not `eq`, which takes two.
AtLeast at_least(const Constraint& c) {
  const Int128 margin = c.comparison == Comparison::lt || c.comparison == Comparison::gt ? 1 : 0;
  const bool left_is_greater = c.comparison == Comparison::ge || c.comparison == Comparison::gt;
  return left_is_greater ? AtLeast{c.lhs, c.rhs, margin} : AtLeast{c.rhs, c.lhs, margin};
}

/// Returns the negation of `c`. Precondition: not `eq`.
Constraint negated(const Constraint& c) {
  switch (c.comparison) {
    case Comparison::le:
      return {c.lhs, Comparison::gt, c.rhs};
    case Comparison::lt:
      return {c.lhs, Comparison::ge, c.rhs};
    case Comparison::ge:
      return {c.lhs, Comparison::lt, c.rhs};
    default:
      return {c.lhs, Comparison::le, c.rhs};
  }
}

}  // namespace

void Facts::add(const Constraint& c) {
  if (c.comparison == Comparison::eq) {
    add({c.lhs, Comparison::ge, c.rhs});
    return add({c.lhs, Comparison::le, c.rhs});
  }
  auto form = at_least(c).form();
  if (!form || range_of(*form).lo >= 0) return;
  // Tightened to integers, like questions: 2*x + 1 >= 0 gives x >= 0.
  const Int128 g = common_divisor(*form);
  nonnegative_.push_back(g > 1 ? floor_divided(*form, g) : *std::move(form));
}

bool Facts::proves_at_least(Expr a, Expr b, Int128 margin) const {
  auto form = AtLeast{a, b, margin}.form();
  return form && Question(*context_, nonnegative_).nonnegative(*std::move(form));
}

bool Facts::proves_nonnegative(Expr e) const { return proves_at_least(e, context_->constant(0), 0); }
bool Facts::proves_positive(Expr e) const { return proves_at_least(e, context_->constant(0), 1); }

bool Facts::proves_equal(Expr a, Expr b) const {
  return a == b || (proves_at_least(a, b, 0) && proves_at_least(b, a, 0));
}

bool Facts::proves(const Constraint& c) const {
  if (c.comparison == Comparison::eq) return proves_equal(c.lhs, c.rhs);
  const AtLeast wanted = at_least(c);
  return proves_at_least(wanted.lhs, wanted.rhs, wanted.margin);
}

bool Facts::refutes(const Constraint& c) const {
  if (c.comparison != Comparison::eq) return proves(negated(c));
  if (proves_at_least(c.lhs, c.rhs, 1) || proves_at_least(c.rhs, c.lhs, 1)) return true;
  const Congruence difference = context_->sub(c.lhs, c.rhs).congruence();
  return difference.residue != 0;  // never a multiple of the modulus
}

}  // namespace padlock::ir
