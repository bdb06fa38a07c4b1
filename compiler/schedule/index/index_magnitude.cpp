#include "compiler/schedule/index/index_magnitude.h"

#include "compiler/schedule/index/index_width.h"
#include "support/steps.h"

namespace padlock::compiler {

using ir::Expr;
using ir::ExprKind;

Expr IndexMagnitude::of(Expr e) {
  if (!e.has_coordinate()) return size(e);
  const auto it = known_.find(e.id());
  if (it != known_.end()) return it->second;
  take_steps(2 + 2 * e.operands().size());
  const Expr bound = made(e);
  known_.emplace(e.id(), bound);
  return bound;
}

Expr IndexMagnitude::at_least_one(Expr e) { return e.range().lo >= 1 ? e : exprs_.max(e, exprs_.constant(1)); }

Expr IndexMagnitude::size(Expr e) {
  const ir::Range range = e.range();
  if (range.lo >= 0) return at_least_one(e);
  return at_least_one(range.hi <= 0 ? exprs_.neg(e) : exprs_.max(e, exprs_.neg(e)));
}

Expr IndexMagnitude::coordinate(Expr e) {
  for (std::size_t axis = 0; axis < extents_.size(); ++axis)
    if (exprs_.coordinate(static_cast<int>(axis)) == e) return at_least_one(extents_[axis]);
  return exprs_.constant(e.range().hi);
}

Expr IndexMagnitude::made(Expr e) {
  switch (e.kind()) {
    case ExprKind::constant:
      return size(e);
    case ExprKind::symbol:
      return coordinate(e);
    case ExprKind::sum:
      return sum(e);
    case ExprKind::product:
      return product(e);
    case ExprKind::floordiv:
    case ExprKind::mod:
      return divided(e);
    case ExprKind::min:
    case ExprKind::max:
      break;
  }
  Expr most = of(e.operands()[0]);
  for (const Expr operand : e.operands().subspan(1)) most = exprs_.max(most, of(operand));
  return most;
}

/// The terms in any order; what is a size arrives as one number.
Expr IndexMagnitude::sum(Expr e) {
  const Expr rest = split_sum(exprs_, e).second;
  Expr all = rest.is_constant(0) ? rest : size(rest);
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    if (!e.operands()[i].has_coordinate()) continue;
    const Int128 coefficient = e.coefficients()[i];
    all =
        exprs_.add(all, exprs_.mul(exprs_.constant(coefficient < 0 ? -coefficient : coefficient), of(e.operands()[i])));
  }
  return all;
}

/// No factor counts as less than 1, so that no partial product is larger.
Expr IndexMagnitude::product(Expr e) {
  Expr rest = exprs_.constant(1);
  Expr all = rest;
  for (const Expr factor : e.operands())
    if (factor.has_coordinate())
      all = exprs_.mul(all, of(factor));
    else
      rest = exprs_.mul(rest, factor);
  return exprs_.mul(all, size(rest));
}

/// A quotient is one less than its dividend at most; a remainder lies within its divisor, and to its dividend comes the
/// rest, which arrives reduced.
Expr IndexMagnitude::divided(Expr e) {
  const Expr divisor = of(e.operands()[1]);
  const Expr dividend = of(e.operands()[0]);
  return exprs_.add(exprs_.add(dividend, divisor), exprs_.constant(1));
}

}  // namespace padlock::compiler
