#include "solver/linear_system.h"

#include <algorithm>

#include "ir/expr/linear_form.h"
#include "ir/expr/simplify.h"
#include "support/steps.h"

namespace padlock::solver {

using ir::Expr;
using ir::ExprKind;

namespace {

// Far from overflow, so that sums of rows need no checks of their own.
constexpr Int128 kLargest = Int128{1} << 100;

// Bounds from here on (every coordinate has 2^47) only decide whether a point can be bound, but make each step of the
// solver several times more expensive.
constexpr Int128 kFar = Int128{1} << 40;

constexpr std::size_t kComparedInAStep = 16;  // variables compared per step

bool fits(Int128 value) { return -kLargest < value && value < kLargest; }

std::optional<Int128> product(Int128 a, Int128 b) {
  const std::optional<Int128> value = checked_mul<Int128>(a, b);
  return value && fits(*value) ? value : std::nullopt;
}

/// Adds factor * b to `sum`; false if the result does not fit.
bool add_to(LinearRow& sum, const LinearRow& b, Int128 factor) {
  const std::optional<Int128> constant = product(b.constant, factor);
  if (!constant) return false;
  sum.constant += *constant;
  if (!fits(sum.constant)) return false;
  take_steps(1 + b.terms.size() + sum.terms.size() * b.terms.size() / kComparedInAStep);
  for (const auto& [variable, coefficient] : b.terms) {
    const std::optional<Int128> scaled = product(coefficient, factor);
    if (!scaled) return false;
    const auto at = std::ranges::find(sum.terms, variable, &std::pair<int, Int128>::first);
    if (at == sum.terms.end()) {
      sum.terms.emplace_back(variable, *scaled);
      continue;
    }
    at->second += *scaled;
    if (!fits(at->second)) return false;
    if (at->second == 0) sum.terms.erase(at);
  }
  return true;
}

/// Hashes the terms of a row, or their opposites, independently of their order.
std::uint64_t hash_of_terms(const LinearRow& row, int sign) {
  std::uint64_t sum = 0;
  for (const auto& [variable, coefficient] : row.terms) {
    std::uint64_t hash = static_cast<std::uint64_t>(variable) + 0x9e37'79b9'7f4a'7c15;
    hash = (hash ^ (hash >> 30)) * 0xbf58'476d'1ce4'e5b9 + static_cast<std::uint64_t>(sign * coefficient);
    sum += (hash ^ (hash >> 27)) * 0x94d0'49bb'1331'11eb;
  }
  return sum;
}

bool is_linear(Expr e) {
  return !e.valid() || e.kind() == ExprKind::symbol ||
         (e.kind() == ExprKind::floordiv && e.operands()[1].is_constant());
}

}  // namespace

bool is_minmax(Expr e) { return e.valid() && (e.kind() == ExprKind::min || e.kind() == ExprKind::max); }

bool exclude_each_other(const LinearRow& a, const LinearRow& b) {
  if (a.terms.size() != b.terms.size() || a.is_equality || b.is_equality || a.constant + b.constant >= 0) return false;
  take_steps(1 + a.terms.size() * a.terms.size() / kComparedInAStep);
  return std::ranges::all_of(a.terms, [&](const auto& term) {
    return std::ranges::find(b.terms, std::pair(term.first, -term.second)) != b.terms.end();
  });
}

std::optional<LinearRow> added(const LinearRow& a, const LinearRow& b, Int128 factor) {
  LinearRow sum = a;
  if (!add_to(sum, b, factor)) return std::nullopt;
  return sum;
}

void LinearSystem::assume(Expr e, bool is_equality) {
  if (std::optional<LinearRow> row = row_of(e)) {
    row->is_equality = is_equality;
    assumptions_of_.resize(variables_.size());
    for (const auto& term : row->terms)
      assumptions_of_[static_cast<std::size_t>(term.first)].push_back(assumptions_.size());
    if (!is_equality) inequalities_.emplace(hash_of_terms(*row, 1), assumptions_.size());
    assumptions_.push_back(*std::move(row));
  }
}

bool LinearSystem::assumptions_exclude(const LinearRow& row) const {
  take_steps(1 + row.terms.size() / 4);
  const auto [begin, end] = inequalities_.equal_range(hash_of_terms(row, -1));
  return std::any_of(begin, end, [&](const auto& at) { return exclude_each_other(row, assumptions_[at.second]); });
}

void LinearSystem::add(Expr e, bool is_equality) {
  if (std::optional<LinearRow> row = row_of(e)) {
    take_steps(2 + row->terms.size());
    row->is_equality = is_equality;
    rows_.push_back(*std::move(row));
  }
}

std::optional<LinearRow> LinearSystem::row_of(Expr e) {
  if (const auto it = made_.find(e.id()); it != made_.end()) return it->second;
  std::optional<LinearRow> row = make_row(e);
  made_.insert_or_assign(e.id(), row);
  return row;
}

std::optional<LinearRow> LinearSystem::make_row(Expr e) {
  const ir::LinearForm form = ir::LinearForm::of(e);
  LinearRow row{.terms = {}, .constant = form.constant};
  if (!fits(row.constant)) return std::nullopt;
  for (std::size_t i = 0; i < form.terms.size(); ++i)
    if (!append(row, form.terms[i], form.coefficients[i])) return std::nullopt;
  return row;
}

/// Adds coefficient * term; false if it does not fit. A constant `term` is a multiple that does not fit.
bool LinearSystem::append(LinearRow& row, Expr term, Int128 coefficient) {
  std::optional<LinearRow> value;
  if (term.kind() == ExprKind::mod && term.operands()[1].is_constant()) {
    // x mod m = x - m * (x floordiv m)
    const std::optional<LinearRow> dividend = row_of(term.operands()[0]);
    const std::optional<LinearRow> quotient = row_of(exprs_->floordiv(term.operands()[0], term.operands()[1]));
    if (dividend && quotient) value = added(*dividend, *quotient, -term.operands()[1].constant());
  } else if (term.kind() == ExprKind::sum) {
    value = row_of(term);
  } else if (term.kind() != ExprKind::constant) {
    value = LinearRow{.terms = {{variable_of(term), 1}}};
  }
  if (!value) return false;
  return add_to(row, *value, coefficient);
}

int LinearSystem::variable_of(Expr e) {
  const auto [it, inserted] = ids_.try_emplace(e.id(), variable_count());
  const int variable = it->second;
  if (!inserted) return variable;
  define(e, new_variable(e));
  for (const Expr operand : e.operands()) (void)row_of(operand);
  return variable;
}

int LinearSystem::new_variable(Expr e) {
  variables_.push_back(e);
  linear_.push_back(solver::is_linear(e));
  minmax_.push_back(solver::is_minmax(e));
  definitions_.emplace_back();
  return variable_count() - 1;
}

void LinearSystem::define(Expr e, int variable) {
  bound(variable, e.range());
  switch (e.kind()) {
    case ExprKind::symbol:
      if (const ir::Congruence& known = e.congruence(); known.modulus > 1) {
        const int multiple = new_variable({});
        define(variable,
               {.terms = {{variable, 1}, {multiple, -known.modulus}}, .constant = -known.residue, .is_equality = true});
      }
      break;
    case ExprKind::floordiv:
      return define_floordiv(e, variable);
    case ExprKind::mod:
      return define_mod(e, variable);
    case ExprKind::product:
      return define_product(e, variable);
    case ExprKind::min:
    case ExprKind::max:
      return define_minmax(e, variable);
    case ExprKind::constant:
    case ExprKind::sum:
      break;
  }
}

void LinearSystem::bound(int variable, const ir::Range& range) {
  if (fits(range.lo)) define(variable, {.terms = {{variable, 1}}, .constant = -range.lo});
  if (!fits(range.hi)) return;
  const LinearRow row{.terms = {{variable, -1}}, .constant = range.hi};
  if (range.hi < kFar)
    define(variable, row);
  else
    far_bounds_.push_back(row);
}

void LinearSystem::add_difference(int variable, int sign, const std::optional<LinearRow>& row, Int128 constant) {
  if (!row) return;
  std::optional<LinearRow> sum = added(LinearRow{.terms = {{variable, sign}}, .constant = constant}, *row, -sign);
  if (sum) define(variable, *std::move(sum));
}

void LinearSystem::define_floordiv(Expr e, int variable) {
  const std::optional<LinearRow> dividend = row_of(e.operands()[0]);
  const Expr divisor = e.operands()[1];
  if (divisor.is_constant()) {
    // 0 <= x - k v <= k - 1
    if (!dividend || !fits(divisor.constant())) return;
    const LinearRow quotient{.terms = {{variable, 1}}};
    const std::optional<LinearRow> rest = added(*dividend, quotient, -divisor.constant());
    if (!rest) return;
    define(variable, *rest);
    if (auto below = added(LinearRow{.terms = {}, .constant = divisor.constant() - 1}, *rest, -1))
      define(variable, *std::move(below));
    return;
  }
  std::optional<LinearRow> row = row_of(divisor);
  if (row) {
    row->constant -= 1;
    define(variable, *std::move(row));
  }
  if (e.operands()[0].range().lo >= 0) add_difference(variable, -1, dividend);
}

void LinearSystem::define_mod(Expr e, int variable) {
  const std::optional<LinearRow> divisor = row_of(e.operands()[1]);
  define(variable, {.terms = {{variable, 1}}});
  add_difference(variable, -1, divisor, -1);
  const std::optional<LinearRow> dividend = row_of(e.operands()[0]);
  if (e.operands()[0].range().lo >= 0) add_difference(variable, -1, dividend);
}

/// (f - a) * (r - b) >= 0 for f >= a and r >= b gives v >= b f + a r - a b. Applied to each factor f, but for many
/// factors only to the first: each rest is a variable with rests of its own, so all factors would make one for each
/// subset.
void LinearSystem::define_product(Expr e, int variable) {
  constexpr std::size_t kFew = 3, kMany = 8;
  for (const Expr factor : e.operands().first(e.operands().size() > kFew ? 1 : e.operands().size())) {
    std::vector<Expr> others(e.operands().begin(), e.operands().end());
    others.erase(std::ranges::find(others, factor));
    // Without this factor the product may be small enough to multiply out. With many factors that is not worth it.
    const Expr rest = others.size() > kMany ? ir::Simplifier::make(*exprs_, ExprKind::product, std::move(others))
                                            : ir::Simplifier::product(*exprs_, others);
    const std::optional<LinearRow> f = row_of(factor);
    const std::optional<LinearRow> r = row_of(rest);
    const Int128 a = factor.range().lo;
    const Int128 b = rest.range().lo;
    const std::optional<Int128> corner = product(a, b);
    if (!f || !r || !fits(a) || !fits(b) || !corner) continue;
    std::optional<LinearRow> row = added(LinearRow{.terms = {{variable, 1}}, .constant = *corner}, *f, -b);
    if (row) row = added(*row, *r, -a);
    if (row) define(variable, *std::move(row));
  }
}

void LinearSystem::define_minmax(Expr e, int variable) {
  for (const Expr operand : e.operands()) add_difference(variable, e.kind() == ExprKind::max ? 1 : -1, row_of(operand));
}

}  // namespace padlock::solver
