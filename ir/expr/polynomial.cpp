// Sums and products: the polynomial normal form.

#include <algorithm>

#include "ir/expr/expr_node.h"
#include "ir/expr/interval.h"
#include "ir/expr/simplify.h"
#include "support/steps.h"

namespace padlock::ir {

namespace {

constexpr std::size_t kMaxTerms = 64;          // of a product that is distributed
constexpr std::size_t kMaxOpaqueFactors = 16;  // more sums than this in a product are not tried pairwise

/// A factor, and a bound of the sum of its terms' magnitudes.
struct Bounded {
  explicit Bounded(Expr e) : form(LinearForm::of(e)), bound(magnitude_bound(form)) {}
  LinearForm form;
  Int128 bound;
};

// Returns whether the product may be distributed: its factors cannot overflow, and the sum of the magnitudes of all
// resulting terms is below 2^126. Then no order of evaluation overflows.
bool may_distribute(const Bounded& a, const Bounded& b) {
  return a.form.size() * b.form.size() <= kMaxTerms && saturating_mul(a.bound, b.bound) < Range::kMax;
}

Expr multiply_terms(ExprContext& context, Expr a, Expr b) {
  return Simplifier::join(context, ExprKind::product, {a, b});
}

// Returns a + factor * b for coefficients that cannot be merged within 128 bits: b becomes one term. The terms of a
// stay terms, so that no partial sum of a sum made step by step has to fit.
Expr opaque_sum(ExprContext& context, Expr a, Expr b, Int128 factor) {
  if (auto form = added(LinearForm::of(a), LinearForm{0, {b}, {1}}, factor))
    return Simplifier::make(context, *std::move(form));
  const int order = structural_order(a, b);
  if (order < 0) return Simplifier::make(context, LinearForm{0, {a, b}, {1, factor}});
  if (order > 0) return Simplifier::make(context, LinearForm{0, {b, a}, {factor, 1}});
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

/// Multiplies two sums out, if may_distribute.
std::optional<Expr> distributed(ExprContext& context, const Bounded& a, const Bounded& b) {
  return may_distribute(a, b) ? distribute(context, a.form, b.form) : std::nullopt;
}

std::span<const Expr> factors_of(const Expr& term) {
  return term.kind() == ExprKind::product ? term.operands() : std::span<const Expr>(&term, 1);
}

/// A product: coefficient * monomial factors * sums.
struct Factors {
  Int128 coefficient = 1;
  std::vector<Expr> monomial;
  std::vector<Expr> sums;
  std::vector<Expr> alone = {};  ///< new sums, which may still have a factor common to all terms

  void add(Expr term) {
    for (const Expr e : factors_of(term)) (e.kind() == ExprKind::sum ? sums : monomial).push_back(e);
    if (term.kind() == ExprKind::sum) alone.push_back(term);
  }
};

// Returns the factors that all terms share.
std::vector<Expr> common_factors(const LinearForm& form) {
  if (form.constant != 0) return {};
  const auto first = factors_of(form.terms[0]);
  std::vector<Expr> common(first.begin(), first.end());
  for (const Expr& term : form.terms) {
    std::vector<Expr> rest(factors_of(term).begin(), factors_of(term).end());
    take_steps(1 + common.size() + rest.size());
    std::erase_if(common, [&rest](Expr e) {
      const auto found = std::ranges::find(rest, e);
      if (found == rest.end()) return true;
      rest.erase(found);
      return false;
    });
  }
  return common;
}

Expr without(ExprContext& context, Expr term, std::span<const Expr> factors) {
  std::vector<Expr> rest(factors_of(term).begin(), factors_of(term).end());
  for (const Expr e : factors) rest.erase(std::ranges::find(rest, e));
  if (rest.empty()) return context.constant(1);
  return Simplifier::make(context, ExprKind::product, std::move(rest));
}

/// A sum as coefficient * product of factors * rest. `rest` has no factor that all its terms share.
struct Content {
  Int128 coefficient = 1;
  std::vector<Expr> factors;
  LinearForm rest;
};

// S*T*B - S*T is S * T * (B - 1), and -2*S + 2 is -2 * (S - 1). The sign is that of the rest's first coefficient, so
// that it does not depend on the common factors.
std::optional<Content> content_of(ExprContext& context, Expr sum) {
  const LinearForm form = LinearForm::of(sum);
  Content content{common_divisor(form, form.constant), common_factors(form), {}};
  std::optional<LinearForm> rest = LinearForm{form.constant / content.coefficient, {}, {}};
  for (std::size_t i = 0; i < form.terms.size() && rest; ++i) {
    const Expr term = without(context, form.terms[i], content.factors);
    rest = added(*rest, LinearForm::of(term), form.coefficients[i] / content.coefficient);
  }
  if (rest && !rest->terms.empty() && rest->coefficients[0] < 0) {
    rest = scaled(*rest, -1);
    content.coefficient = -content.coefficient;
  }
  if (!rest || rest->terms.empty()) return std::nullopt;
  content.rest = *std::move(rest);
  return content;
}

void add_without_content(ExprContext& context, Factors& to, Expr sum) {
  auto content = content_of(context, sum);
  const auto coefficient = content ? checked_mul(to.coefficient, content->coefficient) : std::nullopt;
  if (!coefficient) return to.sums.push_back(sum);
  to.coefficient = *coefficient;
  to.monomial.insert(to.monomial.end(), content->factors.begin(), content->factors.end());
  to.sums.push_back(Simplifier::make(context, std::move(content->rest)));
}

// Merges the sums and constants among a form's terms, which are there because coefficients did not fit, as far as they
// fit now.
LinearForm flattened(const LinearForm& form) {
  LinearForm total{form.constant, {}, {}};
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    auto next = added(total, LinearForm::of(form.terms[i]), form.coefficients[i]);
    if (!next) next = added(total, LinearForm{0, {form.terms[i]}, {1}}, form.coefficients[i]);
    if (!next) return form;
    total = *std::move(next);
  }
  return total;
}

bool is_opaque_term(Expr term) { return term.kind() == ExprKind::sum || term.is_constant(); }

// Returns the two sums multiplied out, times all other factors.
std::optional<Expr> distribute_two_sums(ExprContext& context, const Factors& factors, Expr monomial) {
  const auto& sums = factors.sums;
  std::vector<Bounded> bounded;
  for (const Expr sum : sums) bounded.emplace_back(sum);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (std::size_t j = i + 1; j < sums.size(); ++j) {
      std::optional<Expr> product = distributed(context, bounded[i], bounded[j]);
      if (!product) continue;
      for (std::size_t k = 0; k < sums.size(); ++k)
        if (k != i && k != j) product = Simplifier::multiply(context, *product, sums[k]);
      product = Simplifier::multiply(context, *product, monomial);
      return Simplifier::scale(context, *product, factors.coefficient);
    }
  }
  return std::nullopt;
}

// Makes a product that cannot be multiplied out as a whole: its sums have no common factors left, and no two of them
// can be multiplied out. The form does not depend on the order of multiplication, so the printed text reads back to it.
Expr multiply_opaque(ExprContext& context, Factors factors) {
  for (const Expr sum : factors.alone) {
    factors.sums.erase(std::ranges::find(factors.sums, sum));
    add_without_content(context, factors, sum);
  }
  const Expr monomial =
      factors.monomial.empty() ? context.constant(1) : Simplifier::join(context, ExprKind::product, factors.monomial);
  if (factors.sums.size() == 1) {  // The ranges may allow it now, without a large common coefficient.
    if (const auto product = distributed(context, Bounded(monomial), Bounded(factors.sums[0])))
      return Simplifier::scale(context, *product, factors.coefficient);
  }
  std::ranges::sort(factors.sums, [](Expr p, Expr q) { return structural_order(p, q) < 0; });
  if (factors.sums.size() <= kMaxOpaqueFactors)
    if (const auto product = distribute_two_sums(context, factors, monomial)) return *product;
  std::vector<Expr> all = factors.sums;
  if (!monomial.is_constant(1)) all.push_back(monomial);
  return Simplifier::scale(context, Simplifier::join(context, ExprKind::product, std::move(all)), factors.coefficient);
}

}  // namespace

Expr Simplifier::make(ExprContext& context, LinearForm form) {
  if (std::ranges::any_of(form.terms, is_opaque_term)) form = flattened(form);
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

namespace {

struct Term {
  Expr expr;
  Int128 coefficient;
  std::size_t added;  ///< number of terms added before it
};

/// Appends the terms of factor * e, and adds its constant to `constant`. Returns false if a number does not fit, or a
/// term is opaque.
bool append_terms(Expr e, Int128 factor, std::vector<Term>& terms, Int128& constant) {
  const LinearForm form = LinearForm::of(e);
  const auto scaled = checked_mul(factor, form.constant);
  const auto sum = scaled ? checked_add(constant, *scaled) : std::nullopt;
  if (!sum) return false;
  constant = *sum;
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    const auto coefficient = checked_mul(factor, form.coefficients[i]);
    if (!coefficient || is_opaque_term(form.terms[i])) return false;
    terms.push_back({form.terms[i], *coefficient, terms.size()});
  }
  return true;
}

/// Merges equal terms in the order in which they were added; nullopt if a coefficient does not fit on the way.
std::optional<LinearForm> merged(Int128 constant, std::vector<Term> terms) {
  // Not std::stable_sort: it changes its method if memory is short, which would hide the shortage.
  std::ranges::sort(terms, [](const Term& a, const Term& b) {
    const auto order = structural_order(a.expr, b.expr);
    return order != 0 ? order < 0 : a.added < b.added;
  });
  LinearForm form{constant, {}, {}};
  for (std::size_t i = 0; i < terms.size();) {
    Int128 coefficient = 0;
    const Expr term = terms[i].expr;
    for (; i < terms.size() && terms[i].expr == term; ++i) {
      const auto next = checked_add(coefficient, terms[i].coefficient);
      if (!next) return std::nullopt;
      coefficient = *next;
    }
    form.append(term, coefficient);
  }
  return form;
}

}  // namespace

Expr Simplifier::sum(ExprContext& context, Int128 constant, std::span<const Expr> terms,
                     std::span<const Int128> coefficients) {
  std::vector<Term> all;
  Int128 rest = constant;
  bool fits = true;
  for (std::size_t i = 0; i < terms.size() && fits; ++i) fits = append_terms(terms[i], coefficients[i], all, rest);
  if (fits)
    if (auto form = merged(rest, std::move(all))) return make(context, *std::move(form));
  Expr result = context.constant(constant);
  for (std::size_t i = 0; i < terms.size(); ++i) result = add(context, result, terms[i], coefficients[i]);
  return result;
}

Expr Simplifier::product(ExprContext& context, std::span<const Expr> factors) {
  const auto is_plain = [](Expr e) {
    return !e.is_constant() && !has_indicator(e) &&
           std::ranges::find(factors_of(e), ExprKind::sum, &Expr::kind) == factors_of(e).end();
  };
  if (!factors.empty() && std::ranges::all_of(factors, is_plain))
    return join(context, ExprKind::product, {factors.begin(), factors.end()});
  Expr result = context.constant(1);
  for (const Expr factor : factors) result = multiply(context, result, factor);
  return result;
}

Expr Simplifier::scale(ExprContext& context, Expr a, Int128 factor) {
  if (auto form = scaled(LinearForm::of(a), factor)) return make(context, *std::move(form));
  return make(context, LinearForm{0, {a}, {factor}});
}

Expr Simplifier::multiply(ExprContext& context, Expr a, Expr b) {
  if (a.is_constant()) return scale(context, b, a.constant());
  if (b.is_constant()) return scale(context, a, b.constant());
  const LinearForm x = LinearForm::of(a), y = LinearForm::of(b);
  if (x.is_monomial() && x.coefficients[0] != 1)  // the coefficient stays outside the product
    return scale(context, multiply(context, x.terms[0], b), x.coefficients[0]);
  if (y.is_monomial() && y.coefficients[0] != 1)
    return scale(context, multiply(context, a, y.terms[0]), y.coefficients[0]);

  Factors factors;
  factors.add(a);
  factors.add(b);
  if (factors.sums.empty()) return join(context, ExprKind::product, std::move(factors.monomial));
  std::optional<Expr> product;
  if (factors.sums.size() == 1 && !factors.monomial.empty()) {
    const Expr monomial = join(context, ExprKind::product, factors.monomial);
    product = distributed(context, Bounded(monomial), Bounded(factors.sums[0]));
  } else if (factors.sums.size() == 2 && factors.monomial.empty()) {
    product = distributed(context, Bounded(a), Bounded(b));
  }
  return product ? *product : multiply_opaque(context, std::move(factors));
}

}  // namespace padlock::ir
