#include <algorithm>
#include <tuple>

#include "ir/expr/linear_form.h"
#include "ir/expr/simplify.h"
#include "solver/feasibility.h"

// Refinement by cases: if a point of the linear part violates an expression, each case excludes that point.
namespace padlock::solver {

using ir::Expr;
using ir::ExprKind;

namespace {

constexpr std::size_t kComparedInAStep = 8;  // factors

/// `row` with its sign changed, and `constant` added: constant - row >= 0.
std::optional<LinearRow> at_most(const std::optional<LinearRow>& row, Int128 constant) {
  return row ? added(LinearRow{.terms = {}, .constant = constant}, *row, -1) : std::nullopt;
}
/// row - constant >= 0.
std::optional<LinearRow> at_least(const std::optional<LinearRow>& row, Int128 constant) {
  return row ? added(LinearRow{.terms = {}, .constant = -constant}, *row, 1) : std::nullopt;
}
std::optional<LinearRow> equal(std::optional<LinearRow> row) {
  if (row) row->is_equality = true;
  return row;
}
std::optional<LinearRow> difference(const std::optional<LinearRow>& a, const std::optional<LinearRow>& b,
                                    Int128 factor = 1) {
  return a && b ? added(*a, *b, -factor) : std::nullopt;
}

/// Returns the common factors of two products, and the other factors of each.
std::tuple<Expr, Expr, Expr> common_factors(ir::ExprContext& exprs, Expr a, Expr b) {
  const auto factors = [](Expr e) {
    const bool product = e.kind() == ExprKind::product;
    return product ? std::vector<Expr>(e.operands().begin(), e.operands().end()) : std::vector<Expr>{e};
  };
  std::vector<Expr> rest = factors(b);
  std::vector<Expr> common, others;
  for (const Expr factor : factors(a)) {
    take_steps(1 + rest.size() / kComparedInAStep);
    const auto at = std::ranges::find(rest, factor);
    (at == rest.end() ? others : common).push_back(factor);
    if (at != rest.end()) rest.erase(at);
  }
  const auto product = [&](const std::vector<Expr>& of) { return ir::Simplifier::product(exprs, of); };
  return {product(common), product(others), product(rest)};
}

}  // namespace

std::optional<Int128> Feasibility::value_of(Expr e, const Values& values) {
  const std::optional<LinearRow> row = system_.row_of(e);
  return row ? value_of(*row, values) : std::nullopt;
}

std::optional<Int128> Feasibility::value_of(const LinearRow& row, const Values& values) {
  Int128 sum = row.constant;
  take_steps(1 + row.terms.size());
  for (const auto& [variable, coefficient] : row.terms) {
    const auto at = values.find(variable);
    if (at == values.end()) return std::nullopt;
    const std::optional<Int128> term = checked_mul<Int128>(at->second, coefficient);
    const std::optional<Int128> next = term ? checked_add<Int128>(sum, *term) : std::nullopt;
    if (!next) return std::nullopt;
    sum = *next;
  }
  return sum;
}

std::optional<Feasibility::Branch> Feasibility::rows_of(std::vector<std::optional<LinearRow>> rows) {
  Branch branch;
  for (std::optional<LinearRow>& row : rows) {
    if (!row) return std::nullopt;
    branch.push_back(*std::move(row));
  }
  return branch;
}

std::optional<std::vector<Feasibility::Branch>> Feasibility::refine(const Region& region, const Values& values,
                                                                    const std::vector<int>& nearest_first) {
  for (const auto& any : region.alternatives) {
    std::vector<Branch> branches;
    bool holds = false;
    for (const Expr e : any) {
      const std::optional<Int128> value = value_of(resolved(e), values);
      const std::optional<Branch> branch = rows_of({system_.row_of(resolved(e))});
      if (!value || !branch) return std::nullopt;
      holds |= *value >= 0;
      branches.push_back(*branch);
    }
    if (!holds) return branches;
  }
  for (const int variable : nearest_first) {
    const Expr e = system_.variable(variable);
    if (!e.valid() || e.kind() != ExprKind::product) continue;
    if (auto branch = expanded_case(variable, values)) return branch;
  }
  for (const int variable : nearest_first) {
    if (auto branch = division_case(variable, values)) return branch;
    if (auto branches = remainder_cases(variable, values)) return branches;
  }
  // Minima and maxima have few cases, quotients and products have many.
  for (const bool few : {true, false})
    for (const int variable : nearest_first) {
      const Expr e = system_.variable(variable);
      if (system_.is_linear(variable) || is_minmax(e) != few) continue;
      const auto branches = cases_of(variable, values);
      if (!branches || !branches->empty()) return branches;
    }
  return std::vector<Branch>{};
}

std::optional<std::vector<Feasibility::Branch>> Feasibility::cases_of(int variable, const Values& values) {
  switch (system_.variable(variable).kind()) {
    case ExprKind::min:
    case ExprKind::max:
      return minmax_cases(variable, values);
    case ExprKind::floordiv:
    case ExprKind::mod:
      return quotient_cases(variable, values);
    case ExprKind::product:
      return product_cases(variable, values);
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<Feasibility::Branch>> Feasibility::minmax_cases(int variable, const Values& values) {
  const Expr e = system_.variable(variable);
  const LinearRow self{.terms = {{variable, 1}}};
  std::vector<Branch> branches;
  for (const Expr operand : e.operands()) {
    const std::optional<Int128> value = value_of(operand, values);
    const auto branch = rows_of({equal(difference(self, system_.row_of(operand)))});
    if (!value || !branch) return std::nullopt;
    if (*value == values.at(variable)) return std::vector<Branch>{};
    branches.push_back(*branch);
  }
  return branches;
}

/// Cases: the quotient has its value here, a smaller or a larger one.
std::optional<std::vector<Feasibility::Branch>> Feasibility::quotient_cases(int variable, const Values& values) {
  const Expr e = system_.variable(variable);
  const std::optional<Int128> x = value_of(e.operands()[0], values);
  const std::optional<Int128> d = value_of(e.operands()[1], values);
  if (!x || !d || *d <= 0) return std::nullopt;
  const Int128 q = floor_div(*x, *d);
  const bool is_mod = e.kind() == ExprKind::mod;
  if (values.at(variable) == (is_mod ? floor_mod(*x, *d) : q)) return std::vector<Branch>{};
  const auto dividend = system_.row_of(e.operands()[0]);
  const auto divisor = system_.row_of(e.operands()[1]);
  const LinearRow self{.terms = {{variable, 1}}};
  const auto rest = difference(dividend, divisor, q);           // x - q d
  const auto next = difference(dividend, divisor, q + 1);       // x - (q + 1) d
  const auto below = rest ? at_most(rest, -1) : std::nullopt;   // x < q d
  const auto inside = next ? at_most(next, -1) : std::nullopt;  // x < (q + 1) d
  const auto value = is_mod ? equal(difference(self, rest)) : equal(at_least(self, q));
  const auto here = rows_of({value, rest, inside});
  auto less = rows_of({below});
  auto more = rows_of({next});
  if (!here || !less || !more) return std::nullopt;
  if (!is_mod) {
    less->push_back(*at_most(self, q - 1));
    more->push_back(*at_least(self, q + 1));
  }
  return std::vector<Branch>{*here, *less, *more};
}

/// For v = x floordiv d with a variable divisor d: adds d v <= x < d v + d if these values violate it.
std::optional<std::vector<Feasibility::Branch>> Feasibility::division_case(int variable, const Values& values) {
  const Expr e = system_.variable(variable);
  if (!e.valid() || e.kind() != ExprKind::floordiv || e.operands()[1].is_constant()) return std::nullopt;
  const auto rest = difference(system_.row_of(e.operands()[0]), system_.row_of(exprs_.mul(e.operands()[1], e)));
  const auto room = difference(system_.row_of(e.operands()[1]), rest);
  const auto rows = rows_of({rest, at_least(room, 1)});
  if (!rows) return std::nullopt;
  const bool holds = std::ranges::all_of(*rows, [&](const LinearRow& row) {
    const std::optional<Int128> value = value_of(row, values);
    return value && *value >= 0;
  });
  return holds ? std::nullopt : std::optional(std::vector<Branch>{*rows});
}

/// For v = x mod d with a variable divisor d: adds v <= x where x >= 0, if these values violate it.
std::optional<std::vector<Feasibility::Branch>> Feasibility::remainder_cases(int variable, const Values& values) {
  const Expr e = system_.variable(variable);
  if (!e.valid() || e.kind() != ExprKind::mod || e.operands()[1].is_constant()) return std::nullopt;
  const auto x = system_.row_of(e.operands()[0]);
  const auto room = difference(x, LinearRow{.terms = {{variable, 1}}});
  const auto positive = rows_of({x, room});
  const auto negative = rows_of({at_most(x, -1)});
  if (!positive || !negative) return std::nullopt;
  const std::optional<Int128> dividend = value_of(*x, values);
  const std::optional<Int128> left = value_of(*room, values);
  if (!dividend || !left || *dividend < 0 || *left >= 0) return std::nullopt;
  std::vector<Branch> branches = {*positive};
  if (e.operands()[0].range().lo < 0) branches.push_back(*negative);
  return branches;
}

/// For v = (a + b) * r: adds v = a r + b r if these values violate it.
std::optional<std::vector<Feasibility::Branch>> Feasibility::expanded_case(int variable, const Values& values) {
  const Expr e = system_.variable(variable);
  const auto sum = std::ranges::find(e.operands(), ExprKind::sum, &Expr::kind);
  if (sum == e.operands().end()) return std::nullopt;
  const Expr rest = std::get<1>(common_factors(exprs_, e, *sum));
  const ir::LinearForm form = ir::LinearForm::of(*sum);
  std::optional<LinearRow> row = LinearRow{.terms = {{variable, 1}}};
  if (form.constant != 0) row = difference(row, system_.row_of(rest), form.constant);
  for (std::size_t i = 0; i < form.terms.size(); ++i)
    row = difference(row, system_.row_of(exprs_.mul(rest, form.terms[i])), form.coefficients[i]);
  if (!row || value_of(*row, values) == 0) return std::nullopt;
  return std::vector<Branch>{{*equal(row)}};
}

/// Compares v = f * g with w = f * h, and with f * h for an operand h of a minimum g. For f >= 0: if g <= h then v <=
/// w; if g > h then v >= w + f. Returns the cases of the first violating pair; nothing if there is none.
std::optional<std::vector<Feasibility::Branch>> Feasibility::order_cases(int variable, const Values& values) {
  const Expr e = system_.variable(variable);
  for (const auto& [other, value] : values) {
    const Expr compared = system_.variable(other);
    if (other == variable || !compared.valid() || compared.kind() != ExprKind::product) continue;
    const auto [common, g, h] = common_factors(exprs_, e, compared);
    if (steps_.is_used_up()) return std::nullopt;
    if (common.is_constant()) continue;
    if (auto branches = order_cases(variable, {.f = common, .g = g, .h = h}, values)) return branches;
  }
  for (const Expr factor : e.operands()) {
    if (!is_minmax(factor)) continue;
    const auto [common, rest, one] = common_factors(exprs_, e, factor);
    for (const Expr operand : factor.operands())
      if (auto branches = order_cases(variable, {.f = rest, .g = factor, .h = operand}, values)) return branches;
  }
  return std::nullopt;
}

std::optional<std::vector<Feasibility::Branch>> Feasibility::order_cases(int variable, const Ordered& pair,
                                                                         const Values& values) {
  const auto& [f, g, h] = pair;
  const Expr other = exprs_.mul(f, h);
  const auto f_value = value_of(f, values);
  const auto g_value = value_of(g, values);
  const auto h_value = value_of(h, values);
  const auto w_value = value_of(other, values);
  if (!f_value || !g_value || !h_value || !w_value || *f_value < 0) return std::nullopt;
  const std::optional<Int128> apart = checked_sub(values.at(variable), *w_value);
  if (!apart || (*g_value <= *h_value ? *apart <= 0 : *apart >= *f_value)) return std::nullopt;
  const LinearRow self{.terms = {{variable, 1}}};
  const auto f_row = system_.row_of(f);
  const auto gap = difference(system_.row_of(g), system_.row_of(h));
  const auto rise = difference(self, system_.row_of(other));
  const auto ordered = rows_of({at_least(f_row, 0), at_most(gap, 0), at_most(rise, 0)});
  const auto reversed = rows_of({at_least(f_row, 0), at_least(gap, 1), difference(rise, f_row)});
  const auto negative = rows_of({at_most(f_row, -1)});
  if (!ordered || !reversed || !negative) return std::nullopt;
  std::vector<Branch> branches = {*ordered, *reversed};
  if (f.range().lo < 0) branches.push_back(*negative);
  return branches;
}

/// For v = f * r: cases below, at or above the value that one factor has here.
std::optional<std::vector<Feasibility::Branch>> Feasibility::product_cases(int variable, const Values& values) {
  const Expr e = system_.variable(variable);
  Expr factor = e.operands()[0];
  Expr rest = ir::Simplifier::product(exprs_, e.operands().subspan(1));
  std::optional<Int128> value = Int128{1};
  for (const Expr operand : e.operands()) {
    const auto v = value_of(operand, values);
    value = v && value ? checked_mul<Int128>(*value, *v) : std::nullopt;
  }
  if (!value) return std::nullopt;
  if (*value == values.at(variable)) return std::vector<Branch>{};
  if (auto branches = order_cases(variable, values)) return branches;
  if (multiply_assumptions(variable)) return std::vector<Branch>{{}};
  const auto of_factor = value_of(factor, values);
  const auto of_rest = value_of(rest, values);
  // The factor with the smaller value has fewer cases.
  if (of_factor && of_rest && rest.range().lo >= 0 && *of_rest < *of_factor) std::swap(factor, rest);
  const Int128 a = *value_of(factor, values);
  const LinearRow self{.terms = {{variable, 1}}};
  const auto factor_row = system_.row_of(factor);
  const auto rest_row = system_.row_of(rest);
  const auto here = rows_of({equal(at_least(factor_row, a)), equal(difference(self, rest_row, a))});
  auto less = rows_of({at_most(factor_row, a - 1)});
  auto more = rows_of({at_least(factor_row, a + 1)});
  if (!here || !less || !more) return std::nullopt;
  if (rest.range().lo >= 0) {
    const auto at_least_more = difference(self, rest_row, a + 1);  // v - (a + 1) r >= 0
    const auto at_most_less = difference(self, rest_row, a - 1);   // v - (a - 1) r <= 0
    if (at_least_more) more->push_back(*at_least_more);
    if (at_most_less)
      if (const auto row = at_most(at_most_less, 0)) less->push_back(*row);
  }
  std::vector<Branch> branches = {*here, *more};
  if (factor.range().lo < a) branches.push_back(*less);
  return branches;
}

/// Multiplies assumptions by a factor >= 0 if they contain the other factor: w <= P gives w * D <= P * D.
bool Feasibility::multiply_assumptions(int variable) {
  if (!multiplied_.insert(variable).second) return false;
  const Expr e = system_.variable(variable);
  bool any = false;
  const std::size_t count = assumed_.nonnegative.size();
  for (const Expr factor : e.operands()) {
    if (factor.range().lo < 0) continue;
    for (std::size_t i = 0; i < std::min(count, kMaxMultiplied); ++i) {
      const Expr assumption = assumed_.nonnegative[i];
      const ir::LinearForm form = ir::LinearForm::of(assumption);
      const bool relevant = form.terms.size() <= 6 && std::ranges::any_of(e.operands(), [&](Expr other) {
                              return !(other == factor) && form.coefficient_of(other) != 0;
                            });
      if (!relevant) continue;
      system_.assume(exprs_.mul(assumption, factor));
      any = true;
    }
  }
  return any;
}

}  // namespace padlock::solver
