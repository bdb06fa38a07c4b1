#include "ir/expr/product_form.h"

#include <algorithm>

#include "ir/expr/linear_form.h"
#include "ir/expr/simplify.h"
#include "support/steps.h"

namespace padlock::ir {
namespace {

constexpr std::size_t kComparedInAStep = 8;

}  // namespace

Products::Products(ExprContext& exprs, std::span<const Constraint> known) : exprs_(exprs) {
  for (const Constraint& c : known)
    if (c.comparison == Comparison::eq && c.lhs.kind() == ExprKind::mod && c.rhs.is_constant(0)) zero_.push_back(c.lhs);
}

bool Products::divides(Expr d, Expr x) {
  if (d.is_constant()) return x.congruence().modulus % d.constant() == 0 && x.congruence().residue % d.constant() == 0;
  return std::ranges::find(zero_, exprs_.mod(x, d)) != zero_.end();
}

Expr Products::in_quotients(Expr e) {
  if (e.operands().empty()) return e;
  if (const auto known = rewritten_.find(e.id()); known != rewritten_.end()) return known->second;
  take_steps(4 + e.operands().size());
  std::vector<Expr> operands;
  for (const Expr operand : e.operands()) operands.push_back(in_quotients(operand));
  Expr made = e;
  switch (e.kind()) {
    case ExprKind::sum:
      made = Simplifier::sum(exprs_, e.constant(), operands, e.coefficients());
      break;
    case ExprKind::product:
      made = Simplifier::product(exprs_, operands);
      break;
    case ExprKind::floordiv:
      made = exprs_.floordiv(operands[0], operands[1]);
      break;
    case ExprKind::mod:
      made = divides(operands[1], operands[0])
                 ? exprs_.constant(0)
                 : exprs_.sub(operands[0], exprs_.mul(operands[1], exprs_.floordiv(operands[0], operands[1])));
      break;
    default:
      break;  // of a minimum or maximum as it is
  }
  rewritten_.insert_or_assign(e.id(), made);
  return made;
}

void Products::multiply(ProductForm& form, Expr e) {
  const LinearForm linear = LinearForm::of(e);
  const auto scaled = [&](Int128 by) {
    const auto product = checked_mul(form.coefficient, by);
    if (product) form.coefficient = *product;
    return product.has_value();
  };
  if (linear.terms.empty() && scaled(linear.constant)) return;
  if (linear.is_monomial() && scaled(linear.coefficients[0])) e = linear.terms[0];
  take_steps(1 + form.factors.size() / kComparedInAStep);
  if (e.kind() == ExprKind::product)
    for (const Expr factor : e.operands()) multiply(form, factor);
  else
    form.factors.push_back(e);
}

/// Replaces a quotient and its divisor among the factors by the dividend, if the divisor divides it. Returns whether it
/// found one.
bool Products::undo_division(ProductForm& form) {
  for (std::size_t i = 0; i < form.factors.size(); ++i) {
    const Expr quotient = form.factors[i];
    if (quotient.kind() != ExprKind::floordiv || !divides(quotient.operands()[1], quotient.operands()[0])) continue;
    const Expr divisor = quotient.operands()[1];
    take_steps(1 + form.factors.size() / kComparedInAStep);
    if (divisor.is_constant()) {
      if (form.coefficient % divisor.constant() != 0) continue;
      form.coefficient /= divisor.constant();
      form.factors.erase(form.factors.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      const auto at = std::ranges::find(form.factors, divisor);
      if (at == form.factors.end()) continue;
      form.factors.erase(at);
      form.factors.erase(std::ranges::find(form.factors, quotient));
    }
    multiply(form, quotient.operands()[0]);
    return true;
  }
  return false;
}

ProductForm Products::of(std::span<const Expr> extents) {
  ProductForm form;
  for (const Expr extent : extents) multiply(form, in_quotients(extent));
  while (undo_division(form)) continue;
  if (form.coefficient == 0) return {0, {}};
  std::ranges::sort(form.factors, {}, &Expr::id);
  return form;
}

bool Products::equal(std::span<const Expr> a, std::span<const Expr> b) {
  return of(a) == of(b) || Simplifier::product(exprs_, a) == Simplifier::product(exprs_, b);
}

}  // namespace padlock::ir
