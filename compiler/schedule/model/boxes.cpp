#include "compiler/schedule/model/boxes.h"

namespace padlock::compiler {

using ir::Expr;

ir::Expr at_launch(ir::ExprContext& exprs, const Boxes& boxes, ir::Expr e) {
  return exprs.substitute(e, [&](ir::Expr symbol) { return symbol == boxes.step ? boxes.launched : symbol; });
}

RunEnds run_ends(ir::ExprContext& exprs, Expr first, Expr last, Expr moved, Expr extent) {
  const Expr one = exprs.constant(1);
  const auto within = [&](Expr e) { return exprs.min(exprs.max(exprs.add(e, moved), exprs.constant(0)), extent); };
  return {within(first), exprs.sub(within(exprs.add(last, one)), one)};
}

ir::Expr box_stage_rows(ir::ExprContext& exprs, const Kernel& kernel, const Boxes& boxes, const LoadSource& source,
                        const ir::Layout& layout) {
  if (kernel.rank() < 3) return boxes.step;
  const auto axis = static_cast<std::size_t>(kernel.rank() - 2);
  const Expr zero = exprs.constant(0);
  const Expr extent = kernel.extents[axis];
  const Expr coordinate = kernel.coordinate(kernel.rank() - 2);
  const auto at = [&](Expr value) {
    return exprs.substitute(source.coordinates[axis],
                            [&](Expr symbol) { return symbol == coordinate ? value : symbol; });
  };
  const Expr before = exprs.max(at(zero), zero);
  const Expr after = exprs.max(exprs.sub(layout.extents()[axis], at(extent)), zero);
  const Expr turns = exprs.add(exprs.floordiv(boxes.step, exprs.max(extent, exprs.constant(1))), exprs.constant(1));
  return exprs.add(boxes.step, exprs.mul(turns, exprs.add(before, after)));
}

}  // namespace padlock::compiler
