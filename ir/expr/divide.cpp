#include "ir/expr/divide.h"

#include <algorithm>
#include <span>

#include "ir/expr/simplify.h"
#include "support/steps.h"

namespace padlock::ir {
namespace {

/// Divides product t by product p: returns the factors of t without those of p, if t has them all.
std::optional<Expr> divided(ExprContext& context, Expr t, Expr p) {
  const auto factors = [](const Expr& e) {
    return e.kind() == ExprKind::product ? e.operands() : std::span<const Expr>(&e, 1);
  };
  std::vector<Expr> rest(factors(t).begin(), factors(t).end());
  take_steps(1 + rest.size());
  for (const Expr factor : factors(p)) {
    const auto found = std::ranges::find(rest, factor);
    if (found == rest.end()) return std::nullopt;
    rest.erase(found);
  }
  if (rest.empty()) return context.constant(1);
  return Simplifier::make(context, ExprKind::product, std::move(rest));
}

Division divide_by_constant(const LinearForm& a, Int128 d) {
  Division r{{floor_div(a.constant, d), {}, {}}, {floor_mod(a.constant, d), {}, {}}};
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    const bool divides = a.coefficients[i] % d == 0;
    (divides ? r.quotient : r.rest).append(a.terms[i], divides ? a.coefficients[i] / d : a.coefficients[i]);
  }
  return r;
}

// For b = c * p: subtracts the terms of a that are multiples of b.
std::optional<Division> divide_by_monomial(ExprContext& context, const LinearForm& a, Expr p, Int128 c) {
  Division r{{}, {a.constant, {}, {}}};
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    const auto factor = exact_quotient(a.coefficients[i], c);
    const auto over = factor ? divided(context, a.terms[i], p) : std::nullopt;
    if (!over) {
      r.rest.append(a.terms[i], a.coefficients[i]);
      continue;
    }
    auto quotient = added(r.quotient, LinearForm::of(*over), *factor);
    if (!quotient) return std::nullopt;
    r.quotient = *std::move(quotient);
  }
  return r;
}

// For a sum b: subtracts the literal multiple of b that cancels its first term in a, if fewer terms remain.
std::optional<Division> divide_by_sum(const LinearForm& a, const LinearForm& b) {
  const auto quotient = exact_quotient(a.coefficient_of(b.terms[0]), b.coefficients[0]);
  const auto minus = quotient ? checked_mul<Int128>(*quotient, -1) : std::nullopt;
  auto rest = minus ? added(a, b, *minus) : std::nullopt;
  if (!rest || rest->terms.size() >= a.terms.size()) return std::nullopt;
  return Division{{*quotient, {}, {}}, *std::move(rest)};
}

}  // namespace

bool bounded(const LinearForm& form) { return magnitude_bound(form) < Range::kMax; }

std::optional<Division> divide(ExprContext& context, Expr a, Expr b) {
  const LinearForm x = LinearForm::of(a), y = LinearForm::of(b);
  std::optional<Division> r;
  if (b.is_constant()) {
    r = divide_by_constant(x, b.constant());
  } else if (y.is_monomial()) {
    r = divide_by_monomial(context, x, y.terms[0], y.coefficients[0]);
  } else if (!x.terms.empty()) {
    r = divide_by_sum(x, y);
  }
  if (!r || r->quotient.size() == 0 || !bounded(r->rest)) return std::nullopt;
  return r;
}

bool is_multiple(ExprContext& context, Expr m, Expr b) {
  if (m == b) return true;
  if (b.is_constant()) return m.congruence().modulus % b.constant() == 0 && m.congruence().residue % b.constant() == 0;
  const LinearForm x = LinearForm::of(m), y = LinearForm::of(b);
  return x.is_monomial() && y.is_monomial() && exact_quotient(x.coefficients[0], y.coefficients[0]) &&
         divided(context, x.terms[0], y.terms[0]).has_value();
}

}  // namespace padlock::ir
