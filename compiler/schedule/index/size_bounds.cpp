#include "compiler/schedule/index/size_bounds.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/schedule/index/index_width.h"
#include "ir/expr/simplify.h"

namespace padlock::compiler {

using ir::ExprKind;

std::optional<SizeBounds> SizeBoundsFinder::coordinate(Expr e) {
  const std::optional<SizeBounds> own = of_coordinate_(e);
  if (!own) return std::nullopt;
  const auto least = of(own->least);
  const auto most = of(own->most);
  if (!least || !most) return std::nullopt;
  return SizeBounds{least->least, most->most};
}

std::optional<SizeBounds> SizeBoundsFinder::sum(Expr e) {
  std::vector<Expr> least, most;
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    const auto term = of(e.operands()[i]);
    if (!term) return std::nullopt;
    const bool rises = e.coefficients()[i] > 0;
    least.push_back(rises ? term->least : term->most);
    most.push_back(rises ? term->most : term->least);
  }
  return SizeBounds{ir::Simplifier::sum(exprs_, e.constant(), least, e.coefficients()),
                    ir::Simplifier::sum(exprs_, e.constant(), most, e.coefficients())};
}

/// Bounds a product by the least and the largest product of the ends.
SizeBounds SizeBoundsFinder::multiplied(const SizeBounds& a, const SizeBounds& b) {
  if (a.least.range().lo >= 0 && b.least.range().lo >= 0)
    return {exprs_.mul(a.least, b.least), exprs_.mul(a.most, b.most)};
  const std::array<Expr, 4> ends = {exprs_.mul(a.least, b.least), exprs_.mul(a.least, b.most),
                                    exprs_.mul(a.most, b.least), exprs_.mul(a.most, b.most)};
  SizeBounds all{ends[0], ends[0]};
  for (const Expr end : ends) all = {exprs_.min(all.least, end), exprs_.max(all.most, end)};
  return all;
}

std::optional<SizeBounds> SizeBoundsFinder::product(Expr e) {
  SizeBounds all{exprs_.constant(1), exprs_.constant(1)};
  for (const Expr factor : e.operands()) {
    const auto one = of(factor);
    if (!one) return std::nullopt;
    all = multiplied(all, *one);
  }
  return all;
}

/// A quotient grows with its dividend; for a divisor with coordinates it lies between its dividend and 0. A remainder
/// is below its divisor. Remainders of dividends with equal quotients differ as their dividends do.
std::optional<SizeBounds> SizeBoundsFinder::division(Expr e) {
  const auto dividend = of(e.operands()[0]);
  const auto divisors = of(e.operands()[1]);
  const bool is_quotient = e.kind() == ExprKind::floordiv;
  if (!divisors || (is_quotient && !dividend)) return std::nullopt;
  const Expr zero = exprs_.constant(0), one = exprs_.constant(1);
  const Expr divisor = tight_ ? divisors->most : exprs_.max(divisors->most, one);
  const bool varies = e.operands()[1].has_coordinate();
  const SizeBounds any{zero, exprs_.sub(divisor, one)};
  if (varies && is_quotient) return SizeBounds{exprs_.min(dividend->least, zero), exprs_.max(dividend->most, zero)};
  if (!is_quotient && (varies || !tight_ || !dividend)) return any;
  const SizeBounds quotient{exprs_.floordiv(dividend->least, divisor), exprs_.floordiv(dividend->most, divisor)};
  if (is_quotient) return quotient;
  const Expr least = exprs_.sub(dividend->least, exprs_.mul(divisor, quotient.most));
  const Expr most = exprs_.sub(dividend->most, exprs_.mul(divisor, quotient.least));
  return SizeBounds{exprs_.max(any.least, least), exprs_.min(any.most, most)};
}

std::optional<SizeBounds> SizeBoundsFinder::minmax(Expr e) {
  const bool is_min = e.kind() == ExprKind::min;
  const auto choose = [&](Expr a, Expr b) { return is_min ? exprs_.min(a, b) : exprs_.max(a, b); };
  std::optional<SizeBounds> all;
  for (const Expr operand : e.operands()) {
    const auto one = of(operand);
    if (!one) return std::nullopt;
    all = all ? SizeBounds{choose(all->least, one->least), choose(all->most, one->most)} : *one;
  }
  if (tight_) tighten(*all, e);
  return all;
}

/// The smaller of two numbers is at most half their sum, the larger at least half: so a mirrored coordinate has the
/// bounds of its axis.
void SizeBoundsFinder::tighten(SizeBounds& bounds, Expr extremum) {
  constexpr std::size_t kMostOperands = 8;  // the cost grows with their square; index maps have two or three
  const auto operands = extremum.operands();
  const Expr two = exprs_.constant(2);
  for (std::size_t i = 0; i < std::min(operands.size(), kMostOperands); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Expr sum = exprs_.add(operands[i], operands[j]);
      if (sum.has_coordinate()) continue;
      if (extremum.kind() == ExprKind::min)
        bounds.most = exprs_.min(bounds.most, exprs_.floordiv(sum, two));
      else
        bounds.least = exprs_.max(bounds.least, exprs_.ceildiv(sum, two));
    }
}

namespace {

/// Returns the last value of each coordinate, by Expr::id.
std::map<std::uint32_t, Expr> last_of(ir::ExprContext& exprs, const std::vector<Expr>& extents,
                                      std::span<const Kernel::WalkVariable> walks) {
  std::map<std::uint32_t, Expr> all;
  const auto add = [&](Expr coordinate, Expr extent) {
    all[coordinate.id()] = exprs.max(exprs.sub(extent, exprs.constant(1)), exprs.constant(0));
  };
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    add(exprs.coordinate(static_cast<int>(axis)), extents[axis]);
  for (const Kernel::WalkVariable& walk : walks) add(walk.variable, walk.extent);
  return all;
}

}  // namespace

IndexMagnitude::IndexMagnitude(ir::ExprContext& exprs, const std::vector<Expr>& extents,
                               std::span<const Kernel::WalkVariable> walks)
    : ExprAnalysis(4),
      exprs_(exprs),
      bounds_(
          exprs,
          [&exprs, last = last_of(exprs, extents, walks)](Expr coordinate) -> std::optional<SizeBounds> {
            const auto known = last.find(coordinate.id());
            return SizeBounds{exprs.constant(0),
                              known != last.end() ? known->second : exprs.constant(coordinate.range().hi)};
          },
          /*tight=*/false) {}

/// Adds to the dividend its rest that is a size, which arrives reduced.
Expr IndexMagnitude::mod(Expr e) {
  return exprs_.add(of(split_sum(exprs_, e.operands()[0]).first), of(e.operands()[1]));
}

Expr IndexMagnitude::magnitude(Expr e) {
  const SizeBounds bounds = *bounds_.of(e);  // every coordinate has bounds
  if (bounds.least.range().lo >= 0) return bounds.most;
  if (bounds.most.range().hi <= 0) return exprs_.neg(bounds.least);
  return exprs_.max(bounds.most, exprs_.neg(bounds.least));
}

/// Adds the magnitudes of the terms, for any order; a size arrives as one number.
Expr IndexMagnitude::sum(Expr e) {
  Expr widest = magnitude(split_sum(exprs_, e).second);
  Expr partial = widest;
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    const Expr term = e.operands()[i];
    if (!term.has_coordinate()) continue;
    const Int128 coefficient = e.coefficients()[i];
    const Expr scaled = exprs_.mul(exprs_.constant(coefficient < 0 ? -coefficient : coefficient), magnitude(term));
    widest = exprs_.max(widest, exprs_.max(of(term), scaled));
    partial = exprs_.add(partial, scaled);
  }
  return exprs_.max(widest, partial);
}

Expr IndexMagnitude::product(Expr e) {
  Expr rest = exprs_.constant(1), partial = rest, widest = rest;
  const auto multiply = [&](Expr factor) {
    partial = exprs_.mul(partial, magnitude(factor));
    widest = exprs_.max(widest, exprs_.max(of(factor), partial));
  };
  for (const Expr factor : e.operands())
    if (factor.has_coordinate())
      multiply(factor);
    else
      rest = exprs_.mul(rest, factor);
  multiply(rest);
  return widest;
}

Expr IndexMagnitude::minmax(Expr e) {
  Expr widest = of(e.operands()[0]);
  for (const Expr operand : e.operands().subspan(1)) widest = exprs_.max(widest, of(operand));
  return widest;
}

}  // namespace padlock::compiler
