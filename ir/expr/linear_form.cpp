#include "ir/expr/linear_form.h"

#include <algorithm>
#include <utility>

#include "ir/expr/interval.h"
#include "support/steps.h"

namespace padlock::ir {

namespace {
constexpr std::size_t kCopiedInAStep = 4;

UInt128 magnitude_of(Int128 v) { return v < 0 ? -static_cast<UInt128>(v) : static_cast<UInt128>(v); }
}  // namespace

LinearForm LinearForm::of(Expr e) {
  if (e.is_constant()) return {e.constant(), {}, {}};
  take_steps(2 + e.operands().size() / kCopiedInAStep);
  if (e.kind() != ExprKind::sum) return {0, {e}, {1}};
  return {e.constant(), {e.operands().begin(), e.operands().end()}, {e.coefficients().begin(), e.coefficients().end()}};
}

Int128 LinearForm::coefficient_of(Expr term) const {
  const auto found = std::ranges::find(terms, term);
  return found == terms.end() ? 0 : coefficients[static_cast<std::size_t>(found - terms.begin())];
}

void LinearForm::append(Expr term, Int128 coefficient) {
  if (coefficient == 0) return;
  terms.push_back(term);
  coefficients.push_back(coefficient);
}

std::optional<LinearForm> scaled(const LinearForm& a, Int128 factor) { return added({}, a, factor); }

std::optional<LinearForm> added(const LinearForm& a, const LinearForm& b, Int128 factor) {
  const auto multiply_add = [&](Int128 x, Int128 y) -> std::optional<Int128> {
    const auto product = checked_mul(factor, y);
    return product ? checked_add(x, *product) : std::nullopt;
  };
  take_steps(1 + a.terms.size() + b.terms.size());
  LinearForm sum;
  const auto constant = multiply_add(a.constant, b.constant);
  if (!constant) return std::nullopt;
  sum.constant = *constant;
  sum.terms.reserve(a.terms.size() + b.terms.size());
  sum.coefficients.reserve(a.terms.size() + b.terms.size());
  std::size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int order = i == a.terms.size() ? 1 : j == b.terms.size() ? -1 : structural_order(a.terms[i], b.terms[j]);
    const auto coefficient = multiply_add(order <= 0 ? a.coefficients[i] : 0, order >= 0 ? b.coefficients[j] : 0);
    if (!coefficient) return std::nullopt;
    sum.append(order <= 0 ? a.terms[i] : b.terms[j], *coefficient);
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return sum;
}

Int128 common_divisor(const LinearForm& a, Int128 with) {
  UInt128 g = magnitude_of(with);
  for (const Int128 c : a.coefficients)
    for (UInt128 x = magnitude_of(c); x != 0;) x = std::exchange(g, x) % x;
  // 2^127 does not fit in an Int128; half of it also divides everything.
  return static_cast<Int128>(g > (~UInt128{0} >> 1) ? g >> 1 : g);
}

LinearForm floor_divided(const LinearForm& a, Int128 g) {
  LinearForm r{floor_div(a.constant, g), a.terms, a.coefficients};
  for (Int128& c : r.coefficients) c /= g;
  return r;
}

Range range_of(const LinearForm& a) {
  Range r{saturate(a.constant), saturate(a.constant)};
  for (std::size_t i = 0; i < a.terms.size(); ++i) r = r + a.coefficients[i] * a.terms[i].range();
  return r;
}

Range difference_range(Expr a, Expr b) {
  if (a == b) return {0, 0};
  const auto difference = added(LinearForm::of(a), LinearForm::of(b), -1);
  return difference ? range_of(*difference) : Range{};
}

Int128 magnitude_bound(const LinearForm& a) {
  take_steps(1 + a.terms.size());
  Int128 bound = magnitude(Range{a.constant, a.constant});
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    if (!a.terms[i].cannot_overflow()) return Range::kMax;
    // At least 1, so that the bound covers the coefficients of a term that is always 0.
    const Int128 largest = std::max<Int128>(magnitude(a.terms[i].range()), 1);
    bound = saturating_add(bound, magnitude(a.coefficients[i] * Range{largest, largest}));
  }
  return bound;
}

}  // namespace padlock::ir
