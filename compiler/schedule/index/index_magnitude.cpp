#include "compiler/schedule/index/index_magnitude.h"

#include <optional>

#include "compiler/schedule/index/index_width.h"
#include "support/int128.h"
#include "support/steps.h"

namespace padlock::compiler {

using ir::ExprKind;

namespace {

/// Returns the last of each coordinate, by Expr::id.
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
    : exprs_(exprs),
      bounds_(
          exprs,
          [&exprs, last = last_of(exprs, extents, walks)](Expr coordinate) -> std::optional<SizeBounds> {
            const auto known = last.find(coordinate.id());
            return SizeBounds{exprs.constant(0),
                              known != last.end() ? known->second : exprs.constant(coordinate.range().hi)};
          },
          /*tight=*/false) {}

Expr IndexMagnitude::of(Expr e) {
  if (!e.has_coordinate()) return magnitude(e);
  const auto it = known_.find(e.id());
  if (it != known_.end()) return it->second;
  take_steps(4 + 4 * e.operands().size());
  return known_.emplace(e.id(), made(e)).first->second;
}

Expr IndexMagnitude::made(Expr e) {
  switch (e.kind()) {
    case ExprKind::constant:
    case ExprKind::symbol:
      return magnitude(e);
    case ExprKind::sum:
      return sum(e);
    case ExprKind::product:
      return product(e);
    case ExprKind::floordiv:
      return exprs_.add(widest_operand(e), exprs_.constant(1));
    case ExprKind::mod:  // to the dividend comes its rest that is a size, which arrives reduced
      return exprs_.add(of(split_sum(exprs_, e.operands()[0]).first), of(e.operands()[1]));
    case ExprKind::min:
    case ExprKind::max:
      return widest_operand(e);
  }
  return magnitude(e);
}

Expr IndexMagnitude::magnitude(Expr e) {
  const SizeBounds bounds = *bounds_.of(e);  // every coordinate has some
  if (bounds.least.range().lo >= 0) return bounds.most;
  if (bounds.most.range().hi <= 0) return exprs_.neg(bounds.least);
  return exprs_.max(bounds.most, exprs_.neg(bounds.least));
}

/// The terms in any order, each with its magnitude; what is a size arrives as one number.
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

Expr IndexMagnitude::widest_operand(Expr e) {
  Expr widest = of(e.operands()[0]);
  for (const Expr operand : e.operands().subspan(1)) widest = exprs_.max(widest, of(operand));
  return widest;
}

}  // namespace padlock::compiler
