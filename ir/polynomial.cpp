// Sums and products: the polynomial normal form.

#include <algorithm>

#include "ir/expr_node.h"
#include "ir/interval.h"
#include "ir/simplify.h"

namespace padlock::ir {

namespace {

constexpr std::size_t kMaxTerms = 64;          // of a product that is distributed
constexpr std::size_t kMaxOpaqueFactors = 16;  // more sums than this in a product are not tried pairwise

// The result's terms are products of factors that cannot overflow, and the sum of all their absolute values is below
// 2^126: no way of evaluating it overflows.
bool may_distribute(const LinearForm& a, const LinearForm& b) {
  if (a.size() * b.size() > kMaxTerms) return false;
  return saturating_mul(magnitude_bound(a), magnitude_bound(b)) < Range::kMax;
}

void append_factors(std::vector<Expr>& factors, Expr term) {
  if (term.kind() != ExprKind::product) {
    factors.push_back(term);
    return;
  }
  factors.insert(factors.end(), term.operands().begin(), term.operands().end());
}

Expr multiply_terms(ExprContext& context, Expr a, Expr b) {
  std::vector<Expr> factors;
  append_factors(factors, a);
  append_factors(factors, b);
  return Simplifier::join(context, ExprKind::product, std::move(factors));
}

// a + factor * b where the coefficients cannot be merged within 128 bits.
Expr opaque_sum(ExprContext& context, Expr a, Expr b, Int128 factor) {
  const int order = structural_order(a, b);
  if (order < 0) return Simplifier::make(context, LinearForm{0, {a, b}, {1, factor}});
  if (order > 0) return Simplifier::make(context, LinearForm{0, {b, a}, {factor, 1}});
  if (const auto together = checked_add<Int128>(factor, 1)) return Simplifier::scale(context, a, *together);
  return Simplifier::add(context, a, Simplifier::scale(context, b, factor), 1);
}

// Precondition: may_distribute, whose bound also covers every coefficient here.
std::optional<Expr> distribute(ExprContext& context, const LinearForm& a, const LinearForm& b) {
  std::optional<LinearForm> total = LinearForm{a.constant * b.constant, {}, {}};
  const auto accumulate = [&](Expr term, Int128 coefficient) {
    if (total && coefficient != 0) total = added(*total, LinearForm::of(term), coefficient);
  };
  for (std::size_t i = 0; i < a.terms.size(); ++i) {
    accumulate(a.terms[i], a.coefficients[i] * b.constant);
    for (std::size_t j = 0; j < b.terms.size(); ++j)
      accumulate(multiply_terms(context, a.terms[i], b.terms[j]), a.coefficients[i] * b.coefficients[j]);
  }
  for (std::size_t j = 0; j < b.terms.size(); ++j) accumulate(b.terms[j], a.constant * b.coefficients[j]);
  if (!total) return std::nullopt;
  return Simplifier::make(context, *std::move(total));
}

// The factors of a product: its sums, and the product of all others as one. Distributing is tried between every two,
// so that the text of a product that stays opaque, read from left to right, gives the same product again.
std::vector<Expr> split_factors(ExprContext& context, Expr a, Expr b) {
  std::vector<Expr> all, parts, monomial;
  append_factors(all, a);
  append_factors(all, b);
  for (const Expr e : all) (e.kind() == ExprKind::sum ? parts : monomial).push_back(e);
  if (!monomial.empty()) parts.push_back(Simplifier::join(context, ExprKind::product, std::move(monomial)));
  std::ranges::sort(parts, [](Expr p, Expr q) { return structural_order(p, q) < 0; });
  return parts;
}

std::optional<Expr> distribute_a_pair(ExprContext& context, std::span<const Expr> parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t j = i + 1; j < parts.size(); ++j) {
      const LinearForm p = LinearForm::of(parts[i]), q = LinearForm::of(parts[j]);
      if (!may_distribute(p, q)) continue;
      auto product = distribute(context, p, q);
      if (!product) continue;
      for (std::size_t k = 0; k < parts.size(); ++k)
        if (k != i && k != j) product = Simplifier::multiply(context, *product, parts[k]);
      return product;
    }
  }
  return std::nullopt;
}

}  // namespace

Expr Simplifier::make(ExprContext& context, LinearForm form) {
  if (form.terms.empty()) return context.constant(form.constant);
  if (form.is_monomial() && form.coefficients[0] == 1) return form.terms[0];
  ExprNode node;
  node.kind = ExprKind::sum;
  node.value = form.constant;
  node.operands = std::move(form.terms);
  node.coefficients = std::move(form.coefficients);
  return context.intern(std::move(node));
}

Expr Simplifier::make(ExprContext& context, ExprKind kind, std::vector<Expr> operands) {
  if (kind != ExprKind::floordiv && kind != ExprKind::mod) {
    std::ranges::sort(operands, [](Expr a, Expr b) { return structural_order(a, b) < 0; });
    if (operands.size() == 1) return operands[0];
  }
  ExprNode node;
  node.kind = kind;
  node.operands = std::move(operands);
  return context.intern(std::move(node));
}

Expr Simplifier::add(ExprContext& context, Expr a, Expr b, Int128 factor) {
  if (auto form = added(LinearForm::of(a), LinearForm::of(b), factor)) return make(context, *std::move(form));
  return opaque_sum(context, a, b, factor);
}

Expr Simplifier::scale(ExprContext& context, Expr a, Int128 factor) {
  if (auto form = scaled(LinearForm::of(a), factor)) return make(context, *std::move(form));
  return make(context, LinearForm{0, {a}, {factor}});
}

Expr Simplifier::multiply(ExprContext& context, Expr a, Expr b) {
  if (a.is_constant()) return scale(context, b, a.constant());
  if (b.is_constant()) return scale(context, a, b.constant());
  const LinearForm x = LinearForm::of(a), y = LinearForm::of(b);
  if (x.is_monomial() && x.coefficients[0] != 1)  // the coefficient stays outside of the product
    return scale(context, multiply(context, x.terms[0], b), x.coefficients[0]);
  if (y.is_monomial() && y.coefficients[0] != 1)
    return scale(context, multiply(context, a, y.terms[0]), y.coefficients[0]);

  const std::vector<Expr> parts = split_factors(context, a, b);
  if (parts.size() == 1) return parts[0];
  if (parts.size() <= kMaxOpaqueFactors)
    if (const auto product = distribute_a_pair(context, parts)) return *product;
  std::vector<Expr> factors;
  for (const Expr e : parts) append_factors(factors, e);
  return make(context, ExprKind::product, std::move(factors));
}

}  // namespace padlock::ir
