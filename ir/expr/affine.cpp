#include "ir/expr/affine.h"

#include <unordered_set>
#include <vector>

#include "ir/expr/expr_node.h"
#include "support/steps.h"

namespace padlock::ir {

std::optional<Affine> linear_in(ExprContext& exprs, Expr e, Expr coordinate) {
  if (!mentions(e, coordinate)) return Affine{0, e};
  if (e == coordinate) return Affine{1, exprs.constant(0)};
  if (e.kind() != ExprKind::sum) return std::nullopt;
  for (std::size_t i = 0; i < e.operands().size(); ++i) {
    if (e.operands()[i] != coordinate) continue;
    const Int128 slope = e.coefficients()[i];
    const Expr rest = exprs.sub(e, exprs.mul(exprs.constant(slope), coordinate));
    if (mentions(rest, coordinate)) return std::nullopt;
    return Affine{slope, rest};
  }
  return std::nullopt;
}

std::optional<Affine> affine_in(ExprContext& exprs, Expr e, Expr coordinate) {
  auto affine = linear_in(exprs, e, coordinate);
  return affine && !affine->rest.has_coordinate() ? affine : std::nullopt;
}

bool mentions(Expr e, Expr coordinate) {
  // Goes down only to operands with the coordinate's bit, which few other coordinates share.
  const std::uint64_t bit = coordinate.node().coordinates;
  std::unordered_set<std::uint32_t> seen;
  std::vector<Expr> pending = {e};
  while (!pending.empty()) {
    const Expr top = pending.back();
    pending.pop_back();
    if (top == coordinate) return true;
    if ((top.node().coordinates & bit) == 0 || !seen.insert(top.id()).second) continue;
    take_steps(3 + top.operands().size());
    pending.insert(pending.end(), top.operands().begin(), top.operands().end());
  }
  return false;
}

}  // namespace padlock::ir
