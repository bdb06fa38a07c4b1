#include "compiler/schedule/index/index_magnitude.h"

#include <optional>

#include "compiler/schedule/index/index_width.h"
#include "support/steps.h"

namespace padlock::compiler {

using ir::ExprKind;

IndexMagnitude::Bounds IndexMagnitude::bounds(Expr e) {
  if (!e.has_coordinate()) return size(e);
  const auto it = known_.find(e.id());
  if (it != known_.end()) return it->second;
  take_steps(4 + 4 * e.operands().size());
  return known_.emplace(e.id(), made(e)).first->second;
}

IndexMagnitude::Bounds IndexMagnitude::made(Expr e) {
  switch (e.kind()) {
    case ExprKind::constant:
      break;
    case ExprKind::symbol:
      return coordinate(e);
    case ExprKind::sum:
      return sum(e);
    case ExprKind::product:
      return product(e);
    case ExprKind::floordiv:
      return quotient(e);
    case ExprKind::mod:
      return remainder(e);
    case ExprKind::min:
    case ExprKind::max:
      return minmax(e);
  }
  return size(e);
}

Expr IndexMagnitude::magnitude(const Bounds& of) {
  if (of.lo.range().lo >= 0) return of.hi;
  if (of.hi.range().hi <= 0) return exprs_.neg(of.lo);
  return exprs_.max(of.hi, exprs_.neg(of.lo));
}

IndexMagnitude::Bounds IndexMagnitude::size(Expr e) {
  Bounds one{.lo = e, .hi = e, .widest = {}};
  one.widest = magnitude(one);
  return one;
}

IndexMagnitude::Bounds IndexMagnitude::coordinate(Expr e) {
  std::optional<Expr> extent;
  for (std::size_t axis = 0; axis < extents_.size(); ++axis)
    if (exprs_.coordinate(static_cast<int>(axis)) == e) extent = extents_[axis];
  for (const Kernel::WalkVariable& walk : walks_)
    if (walk.variable == e) extent = walk.extent;
  const Expr last =
      extent ? exprs_.max(exprs_.sub(*extent, exprs_.constant(1)), exprs_.constant(0)) : exprs_.constant(e.range().hi);
  return {.lo = exprs_.constant(0), .hi = last, .widest = last};
}

/// The terms in any order, each with its magnitude; what is a size arrives as one number.
IndexMagnitude::Bounds IndexMagnitude::sum(Expr e) {
  Bounds all = size(split_sum(exprs_, e).second);
  Expr partial = all.widest;
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    if (!e.operands()[i].has_coordinate()) continue;
    const Expr coefficient = exprs_.constant(e.coefficients()[i]);
    const Bounds term = multiplied(bounds(e.operands()[i]), size(coefficient));
    all.lo = exprs_.add(all.lo, term.lo);
    all.hi = exprs_.add(all.hi, term.hi);
    all.widest = exprs_.max(all.widest, term.widest);
    partial = exprs_.add(partial, magnitude(term));
  }
  all.widest = exprs_.max(all.widest, partial);
  return all;
}

IndexMagnitude::Bounds IndexMagnitude::product(Expr e) {
  Expr rest = exprs_.constant(1);
  Bounds all = size(rest);
  for (const Expr factor : e.operands())
    if (factor.has_coordinate())
      all = multiplied(all, bounds(factor));
    else
      rest = exprs_.mul(rest, factor);
  return multiplied(all, size(rest));
}

/// Multiplies the ends; where a sign is not known, the least and the greatest of all four products count.
IndexMagnitude::Bounds IndexMagnitude::multiplied(const Bounds& a, const Bounds& b) {
  const auto mul = [&](Expr x, Expr y) { return exprs_.mul(x, y); };
  Bounds all{.lo = mul(a.lo, b.lo), .hi = mul(a.hi, b.hi), .widest = exprs_.max(a.widest, b.widest)};
  if (a.lo.range().lo < 0 || b.lo.range().lo < 0)
    for (const Expr end : {mul(a.lo, b.lo), mul(a.lo, b.hi), mul(a.hi, b.lo), mul(a.hi, b.hi)}) {
      all.lo = exprs_.min(all.lo, end);
      all.hi = exprs_.max(all.hi, end);
    }
  all.widest = exprs_.max(all.widest, magnitude(all));
  return all;
}

/// A quotient grows with its dividend; by a divisor with coordinates it lies between its dividend and 0.
IndexMagnitude::Bounds IndexMagnitude::quotient(Expr e) {
  const Bounds x = bounds(e.operands()[0]);
  const Bounds d = bounds(e.operands()[1]);
  const Expr widest = exprs_.add(exprs_.max(x.widest, d.widest), exprs_.constant(1));
  if (e.operands()[1].has_coordinate()) {
    const Expr zero = exprs_.constant(0);
    return {.lo = exprs_.min(x.lo, zero), .hi = exprs_.max(x.hi, zero), .widest = widest};
  }
  const Expr divisor = exprs_.max(e.operands()[1], exprs_.constant(1));
  return {.lo = exprs_.floordiv(x.lo, divisor), .hi = exprs_.floordiv(x.hi, divisor), .widest = widest};
}

/// To the dividend comes its rest that is a size, which arrives reduced.
IndexMagnitude::Bounds IndexMagnitude::remainder(Expr e) {
  const Bounds x = bounds(split_sum(exprs_, e.operands()[0]).first);
  const Bounds d = bounds(e.operands()[1]);
  const Expr last = exprs_.max(exprs_.sub(d.hi, exprs_.constant(1)), exprs_.constant(0));
  return {.lo = exprs_.constant(0), .hi = last, .widest = exprs_.add(x.widest, d.widest)};
}

IndexMagnitude::Bounds IndexMagnitude::minmax(Expr e) {
  Bounds all = bounds(e.operands()[0]);
  const auto choose = [&](Expr a, Expr b) { return e.kind() == ExprKind::min ? exprs_.min(a, b) : exprs_.max(a, b); };
  for (const Expr operand : e.operands().subspan(1)) {
    const Bounds other = bounds(operand);
    all = {
        .lo = choose(all.lo, other.lo), .hi = choose(all.hi, other.hi), .widest = exprs_.max(all.widest, other.widest)};
  }
  return all;
}

}  // namespace padlock::compiler
