#include "ir/expr/simplify.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ir/expr/divide.h"
#include "ir/expr/interval.h"
#include "support/steps.h"

namespace padlock::ir {

namespace {

constexpr std::size_t kMaxPairedOperands = 32;  // with more operands, only equal ones are found
constexpr std::size_t kComparedInAStep = 8;     // equal handles are equal expressions

// The rules below require b >= 1, and the caller guarantees it. `constant_divisor` is 0 if b is no constant.
Int128 constant_divisor(Expr b) { return b.is_constant() ? b.constant() : 0; }

/// Returns the value of a floordiv b if the ranges leave only one.
std::optional<Int128> only_quotient(Expr a, Expr b) {
  const Range q = floordiv(a.range(), b.range());
  if (q.lo == q.hi && q.bounded()) return q.lo;
  if (a.kind() == ExprKind::mod && a.operands()[1] == b) return 0;
  if (a.range().lo >= 0 && difference_range(b, a).lo >= 1) return 0;
  if (a.range().hi >= 0) return std::nullopt;
  const auto sum = added(LinearForm::of(a), LinearForm::of(b));
  if (sum && range_of(*sum).lo >= 0) return -1;
  return std::nullopt;
}

// --- floordiv ---

std::optional<Expr> floordiv_constants(ExprContext& context, Expr a, Expr b) {
  if (!a.is_constant() || !b.is_constant()) return std::nullopt;
  return context.constant(floor_div(a.constant(), b.constant()));
}

std::optional<Expr> floordiv_by_one(ExprContext&, Expr a, Expr b) {
  return b.is_constant(1) ? std::optional(a) : std::nullopt;
}

std::optional<Expr> floordiv_in_range(ExprContext& context, Expr a, Expr b) {
  const auto quotient = only_quotient(a, b);
  return quotient ? std::optional(context.constant(*quotient)) : std::nullopt;
}

std::optional<Expr> floordiv_take_out_multiples(ExprContext& context, Expr a, Expr b) {
  auto division = divide(context, a, b);
  if (!division) return std::nullopt;
  const Expr rest = Simplifier::make(context, std::move(division->rest));
  return context.add(Simplifier::make(context, std::move(division->quotient)), context.floordiv(rest, b));
}

// (x floordiv m) floordiv n = x floordiv (m * n).
std::optional<Expr> floordiv_of_floordiv(ExprContext& context, Expr a, Expr b) {
  if (a.kind() != ExprKind::floordiv) return std::nullopt;
  const Expr divisor = context.mul(a.operands()[1], b);
  if (!divisor.cannot_overflow()) return std::nullopt;
  return context.floordiv(a.operands()[0], divisor);
}

// (g*x + c) floordiv (g*n) = (x + c floordiv g) floordiv n.
std::optional<Expr> floordiv_common_factor(ExprContext& context, Expr a, Expr b) {
  if (constant_divisor(b) < 1 || a.is_constant()) return std::nullopt;
  const LinearForm form = LinearForm::of(a);
  const Int128 g = common_divisor(form, b.constant());
  if (g == 1) return std::nullopt;
  return context.floordiv(Simplifier::make(context, floor_divided(form, g)), context.constant(b.constant() / g));
}

// x floordiv n = -((-x + n - 1) floordiv n), if that makes the first coefficient positive. So both ways of writing
// "rounded up" get one form.
std::optional<Expr> floordiv_of_negative(ExprContext& context, Expr a, Expr b) {
  const LinearForm form = LinearForm::of(a);
  if (constant_divisor(b) < 1 || form.terms.empty() || form.coefficients[0] > 0) return std::nullopt;
  const auto positive = added({b.constant() - 1, {}, {}}, form, -1);
  if (!positive || !bounded(*positive)) return std::nullopt;
  return context.neg(context.floordiv(Simplifier::make(context, *positive), b));
}

// --- mod ---

std::optional<Expr> mod_constants(ExprContext& context, Expr a, Expr b) {
  if (!a.is_constant() || !b.is_constant()) return std::nullopt;
  return context.constant(floor_mod(a.constant(), b.constant()));
}

std::optional<Expr> mod_in_range(ExprContext& context, Expr a, Expr b) {
  const auto quotient = only_quotient(a, b);
  if (!quotient || *quotient == Range::kMin) return std::nullopt;
  const auto rest = added(LinearForm::of(a), LinearForm::of(b), -*quotient);
  return rest ? std::optional(Simplifier::make(context, *rest)) : std::nullopt;
}

std::optional<Expr> mod_of_congruence(ExprContext& context, Expr a, Expr b) {
  const Int128 d = constant_divisor(b);
  const Congruence& c = a.congruence();
  if (d < 1 || c.modulus % d != 0) return std::nullopt;
  return context.constant(floor_mod<Int128>(c.residue, d));
}

std::optional<Expr> mod_drop_multiples(ExprContext& context, Expr a, Expr b) {
  auto division = divide(context, a, b);
  if (!division) return std::nullopt;
  return context.mod(Simplifier::make(context, std::move(division->rest)), b);
}

// Reduces coefficients into (-d/2, d/2], which never makes one larger.
std::optional<Expr> mod_reduce_coefficients(ExprContext& context, Expr a, Expr b) {
  const Int128 d = constant_divisor(b);
  if (d < 1 || a.is_constant()) return std::nullopt;
  const LinearForm form = LinearForm::of(a);
  LinearForm reduced{floor_mod(form.constant, d), {}, {}};
  for (std::size_t i = 0; i < form.terms.size(); ++i) {
    const Int128 c = floor_mod(form.coefficients[i], d);
    reduced.append(form.terms[i], c > d / 2 ? c - d : c);
  }
  if (reduced.constant == form.constant && reduced.coefficients == form.coefficients) return std::nullopt;
  if (!bounded(reduced)) return std::nullopt;
  return context.mod(Simplifier::make(context, std::move(reduced)), b);
}

// (x mod (k*d) + y) mod d = (x + y) mod d.
std::optional<Expr> mod_of_mod(ExprContext& context, Expr a, Expr b) {
  const LinearForm form = LinearForm::of(a);
  std::optional<LinearForm> stripped = LinearForm{form.constant, {}, {}};
  bool fired = false;
  for (std::size_t i = 0; i < form.terms.size() && stripped; ++i) {
    Expr term = form.terms[i];
    if (term.kind() == ExprKind::mod && is_multiple(context, term.operands()[1], b)) {
      term = term.operands()[0];
      fired = true;
    }
    stripped = added(*stripped, LinearForm::of(term), form.coefficients[i]);
  }
  if (!fired || !stripped || !bounded(*stripped)) return std::nullopt;
  return context.mod(Simplifier::make(context, *std::move(stripped)), b);
}

// (g*x + g*q + r) mod (g*n) = g * ((x + q) mod n) + r for 0 <= r < g.
std::optional<Expr> mod_common_factor(ExprContext& context, Expr a, Expr b) {
  if (constant_divisor(b) < 1 || a.is_constant()) return std::nullopt;
  const LinearForm form = LinearForm::of(a);
  const Int128 g = common_divisor(form, b.constant());
  if (g == 1) return std::nullopt;
  const Expr inner = context.mod(Simplifier::make(context, floor_divided(form, g)), context.constant(b.constant() / g));
  return Simplifier::add(context, context.constant(floor_mod(form.constant, g)), inner, g);
}

// --- min, max ---

bool le_by_difference(Expr a, Expr b) {
  if (a.is_constant() && b.is_constant()) return a.constant() <= b.constant();
  const Int128 most = a.range().hi, least = b.range().lo;
  if (most < Range::kMax && least > Range::kMin && most <= least) return true;
  return difference_range(b, a).lo >= 0;
}

/// Returns whether the operands of a minimum or maximum show a <= b.
bool le_by_operands(Expr a, Expr b) {
  const auto below_b = [b](Expr e) { return le_by_difference(e, b); };
  const auto above_a = [a](Expr e) { return le_by_difference(a, e); };
  const auto below_all_of = [](Expr e, Expr of) {
    return std::ranges::all_of(of.operands(), [e](Expr o) { return le_by_difference(e, o); });
  };
  if (std::max(a.operands().size(), b.operands().size()) > kMaxPairedOperands) return false;
  if (a.kind() == ExprKind::min && std::ranges::any_of(a.operands(), below_b)) return true;
  if (b.kind() == ExprKind::max && std::ranges::any_of(b.operands(), above_a)) return true;
  if (b.kind() == ExprKind::min && a.kind() == ExprKind::min)
    return std::ranges::all_of(b.operands(), [&](Expr o) {
      return std::ranges::any_of(a.operands(), [o](Expr e) { return le_by_difference(e, o); });
    });
  if (a.kind() == ExprKind::max && b.kind() == ExprKind::max)
    return std::ranges::all_of(a.operands(), [&](Expr e) {
      return std::ranges::any_of(b.operands(), [e](Expr o) { return le_by_difference(e, o); });
    });
  if (a.kind() == ExprKind::max) return std::ranges::all_of(a.operands(), below_b);
  return b.kind() == ExprKind::min && below_all_of(a, b);
}

template <bool (*le)(Expr, Expr), bool smaller>
std::optional<Expr> pick(ExprContext&, Expr a, Expr b) {
  if (le(a, b)) return smaller ? a : b;
  if (le(b, a)) return smaller ? b : a;
  return std::nullopt;
}

// --- product ---

/// Returns e if x is min(e, 1) and e >= 0, so that x is 0 if e is, else 1.
std::optional<Expr> indicated(Expr x) {
  if (x.kind() != ExprKind::min || x.operands().size() != 2 || !x.operands()[1].is_constant(1)) return std::nullopt;
  return x.operands()[0].range().lo >= 0 ? std::optional(x.operands()[0]) : std::nullopt;
}

// min(e, 1) * e = e, and min(e, 1) squared is itself.
std::optional<Expr> product_of_indicator(ExprContext&, Expr a, Expr b) {
  if (const auto e = indicated(a); e && (b == *e || b == a)) return b;
  if (const auto e = indicated(b); e && a == *e) return a;
  return std::nullopt;
}

constexpr std::array kRules = {
    Rule{"floordiv_constants", ExprKind::floordiv, floordiv_constants},
    Rule{"floordiv_by_one", ExprKind::floordiv, floordiv_by_one},
    Rule{"floordiv_in_range", ExprKind::floordiv, floordiv_in_range},
    Rule{"floordiv_take_out_multiples", ExprKind::floordiv, floordiv_take_out_multiples},
    Rule{"floordiv_of_floordiv", ExprKind::floordiv, floordiv_of_floordiv},
    Rule{"floordiv_common_factor", ExprKind::floordiv, floordiv_common_factor},
    Rule{"floordiv_of_negative", ExprKind::floordiv, floordiv_of_negative},
    Rule{"mod_constants", ExprKind::mod, mod_constants},
    Rule{"mod_of_congruence", ExprKind::mod, mod_of_congruence},
    Rule{"mod_in_range", ExprKind::mod, mod_in_range},
    Rule{"mod_drop_multiples", ExprKind::mod, mod_drop_multiples},
    Rule{"mod_reduce_coefficients", ExprKind::mod, mod_reduce_coefficients},
    Rule{"mod_of_mod", ExprKind::mod, mod_of_mod},
    Rule{"mod_common_factor", ExprKind::mod, mod_common_factor},
    Rule{"min_by_difference", ExprKind::min, pick<le_by_difference, true>},
    Rule{"min_by_operands", ExprKind::min, pick<le_by_operands, true>},
    Rule{"max_by_difference", ExprKind::max, pick<le_by_difference, false>},
    Rule{"max_by_operands", ExprKind::max, pick<le_by_operands, false>},
    Rule{"product_of_indicator", ExprKind::product, product_of_indicator},
};

std::optional<Expr> apply_rules(ExprContext& context, ExprKind kind, Expr a, Expr b) {
  take_steps(4);
  for (const Rule& rule : kRules)
    if (rule.kind == kind)
      if (const auto result = rule.apply(context, a, b)) return result;
  return std::nullopt;
}

/// Joins `next` with one of the operands, which `partner` then names; nullopt if no rule applies. Among many operands
/// of a minimum or maximum only equal ones are found.
std::optional<Expr> joined_with_one(ExprContext& context, ExprKind kind, std::vector<Expr>& operands, Expr next,
                                    std::vector<Expr>::iterator& partner) {
  take_steps(1 + operands.size() / kComparedInAStep);
  if (operands.size() >= kMaxPairedOperands) {
    partner = kind == ExprKind::product ? operands.end() : std::ranges::find(operands, next);
    return partner == operands.end() ? std::nullopt : std::optional(next);
  }
  for (partner = operands.begin(); partner != operands.end(); ++partner)
    if (auto both = apply_rules(context, kind, *partner, next)) return both;
  return std::nullopt;
}

}  // namespace

std::span<const Rule> simplification_rules() { return kRules; }

bool has_indicator(Expr e) {
  if (e.kind() != ExprKind::product) return indicated(e).has_value();
  return std::ranges::any_of(e.operands(), [](Expr factor) { return indicated(factor).has_value(); });
}

bool provably_le(Expr a, Expr b) { return le_by_difference(a, b) || le_by_operands(a, b); }

Expr Simplifier::apply(ExprContext& context, ExprKind kind, Expr a, Expr b) {
  if (kind == ExprKind::min || kind == ExprKind::max) return join(context, kind, {a, b});
  const bool admissible = !b.is_constant() || b.constant() >= 1;
  if (admissible)
    if (const auto result = apply_rules(context, kind, a, b)) return *result;
  return make(context, kind, {a, b});
}

Expr Simplifier::join(ExprContext& context, ExprKind kind, std::vector<Expr> operands) {
  std::vector<Expr> joined;
  const bool pairs = kind != ExprKind::product || std::ranges::any_of(operands, has_indicator);
  std::ranges::reverse(operands);
  while (!operands.empty()) {
    const Expr next = operands.back();
    operands.pop_back();
    if (next.kind() == kind) {
      operands.insert(operands.end(), next.operands().rbegin(), next.operands().rend());
      continue;
    }
    auto partner = joined.end();
    const std::optional<Expr> both = pairs ? joined_with_one(context, kind, joined, next, partner) : std::nullopt;
    if (both) {
      joined.erase(partner);
      operands.push_back(*both);
    } else {
      joined.push_back(next);
    }
  }
  return make(context, kind, std::move(joined));
}

}  // namespace padlock::ir
