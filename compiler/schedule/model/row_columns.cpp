#include "compiler/schedule/model/row_columns.h"

#include "ir/expr/affine.h"

namespace padlock::compiler {

using ir::Expr;

Expr column_unit(const Kernel& kernel, int column_axis) {
  return column_axis + 1 == kernel.rank() ? kernel.exprs().constant(1) : kernel.extents.back();
}

/// Joins axes a and c, with c below E, to the column a * E + c. Then a + rest >= 0 becomes column + rest * E >= 0, and
/// a <= rest becomes column <= rest * E + E - 1.
std::optional<ColumnCondition> column_condition(const Kernel& kernel, int column_axis, const Condition& condition) {
  ir::ExprContext& exprs = kernel.exprs();
  const bool has_two = column_axis + 1 < kernel.rank();
  if (has_two && mentions(condition.expr, kernel.column())) return std::nullopt;
  const auto form = linear_in(exprs, condition.expr, kernel.coordinate(column_axis));
  if (!form || form->slope > 1 || form->slope < -1) return std::nullopt;
  if (form->slope == 0) return ColumnCondition{0, form->rest};
  if (condition.kind != Condition::Kind::nonnegative) return std::nullopt;
  const Expr unit = column_unit(kernel, column_axis);
  Expr rest = exprs.mul(form->rest, unit);
  if (form->slope < 0) rest = exprs.add(rest, exprs.sub(unit, exprs.constant(1)));
  return ColumnCondition{static_cast<int>(form->slope), rest};
}

Expr at_first_column(const Kernel& kernel, int column_axis, Expr e) {
  for (int axis = column_axis; axis < kernel.rank(); ++axis)
    e = replaced(kernel.exprs(), e, kernel.coordinate(axis), kernel.exprs().constant(0));
  return e;
}

std::optional<SplitByColumn> split_by_column(const Kernel& kernel, const LoadSource& source) {
  ir::ExprContext& exprs = kernel.exprs();
  const ir::Layout& layout = kernel.graph.layout(source.layout);
  const Expr column = kernel.column(), element = layout.offset_of(exprs, source.coordinates);
  SplitByColumn split{
      .at_first = at_first_column(kernel, kernel.rank() - 1, element), .moved = {}, .step = exprs.constant(0)};
  split.moved = exprs.sub(element, split.at_first);
  for (int axis = 0; axis + 1 < kernel.rank(); ++axis)
    if (mentions(split.moved, kernel.coordinate(axis))) return std::nullopt;
  for (std::size_t axis = 0; axis < source.coordinates.size(); ++axis) {
    const auto form = linear_in(exprs, source.coordinates[axis], column);
    split.step = form && split.step.valid()
                     ? exprs.add(split.step, layout.step_of(exprs, static_cast<int>(axis), form->slope))
                     : Expr{};
  }
  return split;
}

}  // namespace padlock::compiler
