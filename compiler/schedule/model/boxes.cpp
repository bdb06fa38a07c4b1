#include "compiler/schedule/model/boxes.h"

#include "ir/expr/affine.h"

namespace padlock::compiler {

using ir::Expr;

std::string_view name_of(BoxKind kind) {
  switch (kind) {
    case BoxKind::none:
      return "";
    case BoxKind::rows:
      return "boxes";
    case BoxKind::joined:
      return "boxes_joined";
    case BoxKind::parts:
      return "boxes_parts";
  }
  return "";
}

Expr box_columns(const Kernel& kernel, const Boxes& boxes) {
  return kernel.exprs().mul(kernel.extent(boxes.column_axis), column_unit(kernel, boxes.column_axis));
}

std::vector<int> box_row_axes(const Boxes& boxes) {
  std::vector<int> axes;
  for (int axis = boxes.row_axis; axis < boxes.column_axis; ++axis) axes.push_back(axis);
  return axes;
}

std::optional<BoxAxis> box_axis(const Kernel& kernel, const Boxes& boxes, int axis) {
  if (axis + 1 == kernel.rank()) return kBoxColumn;
  if (axis == boxes.slice) return kBoxSlice;
  if (axis >= boxes.column_axis) return kBoxRow;
  if (axis < boxes.row_axis) return std::nullopt;
  return boxes.column_axis + 1 == kernel.rank() ? kBoxRow : kBoxSlice;
}

BoxPart make_box_part(ir::ExprContext& exprs, Expr total, const std::array<const char*, 4>& names, int order) {
  BoxPart part{.total = total,
               .step = exprs.variable(names[0], order),
               .number = exprs.variable(names[1], order + 1),
               .from = exprs.variable(names[2], order + 2),
               .last = exprs.variable(names[3], order + 3),
               .first = {},
               .count = {},
               .parts = {},
               .launched = {}};
  part.first = exprs.mul(part.number, part.step);
  part.count = exprs.min(part.step, exprs.sub(total, part.first));
  part.parts = exprs.ceildiv(total, part.step);
  return part;
}

Expr at_launch(ir::ExprContext& exprs, const Boxes& boxes, Expr e) {
  return exprs.substitute(e, [&](Expr symbol) {
    if (symbol == boxes.rows.step) return boxes.rows.launched;
    for (const std::optional<BoxPart>& part : {boxes.slices, boxes.columns})
      if (part && symbol == part->step) return part->launched;
    return symbol;
  });
}

Expr box_count(ir::ExprContext& exprs, const Boxes& boxes) {
  Expr all = exprs.constant(1);
  for (const BoxDigit& digit : boxes.digits) all = exprs.mul(all, digit.count);
  return at_launch(exprs, boxes, all);
}

bool has_strips(const Boxes& boxes) { return boxes.slices || boxes.kind == BoxKind::parts; }

Expr box_strip_elements(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr columns = boxes.columns ? exprs.mul(boxes.columns->step, column_unit(kernel, boxes.column_axis))
                                     : box_columns(kernel, boxes);
  return boxes.kind == BoxKind::parts ? columns : exprs.mul(boxes.rows.step, columns);
}

Expr box_strip_vectors(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr elements = at_launch(exprs, boxes, box_strip_elements(kernel, boxes));
  return exprs.max(exprs.floordiv(elements, exprs.constant(boxes.lanes)), exprs.constant(1));
}

Expr box_strips(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr slices = boxes.slices ? boxes.slices->step : exprs.constant(1);
  return boxes.kind == BoxKind::parts ? exprs.mul(slices, boxes.rows.step) : slices;
}

Expr lane_period(ir::ExprContext& exprs, Expr step, int lanes) {
  Expr period = exprs.constant(1);
  for (int power = 2; power <= lanes; power *= 2) {
    const Expr odd = exprs.min(exprs.mod(step, exprs.constant(power)), exprs.constant(1));
    period = exprs.add(period, exprs.mul(exprs.constant(lanes / power), odd));
  }
  return period;
}

Expr box_slice_step(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr slice = kernel.coordinate(boxes.slice), first = box_first_element(kernel, boxes);
  return exprs.sub(replaced(exprs, first, slice, exprs.constant(1)), replaced(exprs, first, slice, exprs.constant(0)));
}

Expr box_strip_period(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr one = exprs.constant(1), columns = box_columns(kernel, boxes);
  if (!boxes.slices) return lane_period(exprs, columns, boxes.lanes);
  const Expr step = box_slice_step(kernel, boxes);
  if (boxes.kind != BoxKind::parts) return lane_period(exprs, step, boxes.lanes);
  const bool has_rows = exprs.mod(step, columns).is_constant(0);  // a slice is whole rows
  const Expr odd = has_rows ? exprs.min(exprs.mod(columns, exprs.constant(boxes.lanes)), one) : one;
  return exprs.add(one, exprs.mul(box_strips(kernel, boxes), odd));
}

Expr box_first_element(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  Expr first = kernel.element_at(exprs.constant(0));
  for (int axis = boxes.row_axis; axis + 1 < kernel.rank(); ++axis)
    first = replaced(exprs, first, kernel.coordinate(axis), exprs.constant(0));
  if (boxes.columns) first = exprs.add(first, exprs.mul(boxes.columns->first, column_unit(kernel, boxes.column_axis)));
  return exprs.add(first, exprs.mul(boxes.rows.first, box_columns(kernel, boxes)));
}

Expr box_rows_apart(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  return exprs.min(exprs.sub(boxes.rows.launched, exprs.constant(1)),
                   exprs.sub(boxes.columns->total, boxes.columns->launched));
}

RunEnds run_ends(ir::ExprContext& exprs, Expr first, Expr last, Expr moved, Expr extent) {
  const Expr one = exprs.constant(1);
  const auto within = [&](Expr e) { return exprs.min(exprs.max(exprs.add(e, moved), exprs.constant(0)), extent); };
  return {within(first), exprs.sub(within(exprs.add(last, one)), one)};
}

RunEnds box_range(const Kernel& kernel, const Boxes& boxes, int axis) {
  ir::ExprContext& exprs = kernel.exprs();
  if (axis == boxes.column_axis && boxes.columns) return {boxes.columns->from, boxes.columns->last};
  if (axis >= boxes.column_axis) return {exprs.constant(0), exprs.sub(kernel.extent(axis), exprs.constant(1))};
  if (axis == boxes.slice) return {boxes.slices->from, boxes.slices->last};
  if (axis < boxes.row_axis) return {kernel.coordinate(axis), kernel.coordinate(axis)};
  const auto place = static_cast<std::size_t>(axis - boxes.row_axis);
  return {boxes.first[place], boxes.last[place]};
}

Expr box_stage_rows(ir::ExprContext& exprs, const Kernel& kernel, const Boxes& boxes, const LoadSource& source,
                    const ir::Layout& layout) {
  if (kernel.rank() < 3) return boxes.rows.step;
  const auto axis = static_cast<std::size_t>(kernel.rank() - 2);
  const Expr zero = exprs.constant(0);
  const Expr extent = kernel.extents[axis];
  const Expr coordinate = kernel.coordinate(kernel.rank() - 2);
  const auto at = [&](Expr value) { return replaced(exprs, source.coordinates[axis], coordinate, value); };
  const Expr before = exprs.max(at(zero), zero);
  const Expr after = exprs.max(exprs.sub(layout.extents()[axis], at(extent)), zero);
  const Expr turns =
      exprs.add(exprs.floordiv(boxes.rows.step, exprs.max(extent, exprs.constant(1))), exprs.constant(1));
  return exprs.add(boxes.rows.step, exprs.mul(turns, exprs.add(before, after)));
}

Expr box_stage_bytes(ir::ExprContext& exprs, const BoxStage& stage, ir::DType dtype) {
  const Expr bytes = exprs.mul(exprs.max(stage.capacity, exprs.constant(0)), exprs.constant(ir::byte_size(dtype)));
  const Expr vector = exprs.constant(kStageVectorBytes);
  const Expr around = exprs.constant(1 + 2 * kStageMargin / kStageVectorBytes);
  return exprs.mul(exprs.add(exprs.ceildiv(bytes, vector), around), vector);
}

ir::Layout turned_layout(const Kernel& kernel, const Boxes& boxes, const BoxTurn& turn, const ir::Layout& tensor) {
  const auto [across, lanes] = std::pair(turn.across, turn.lanes);
  ir::ExprContext& exprs = kernel.exprs();
  const Expr one = exprs.constant(1), word = exprs.constant(lanes);
  const bool has_two = boxes.column_axis + 1 < kernel.rank();
  const auto whole = [&](Expr e, int unit) {
    return exprs.mul(exprs.ceildiv(e, exprs.constant(unit)), exprs.constant(unit));
  };
  const auto odd_words = [&](Expr e) {
    const Expr two = exprs.constant(2);
    return exprs.mul(exprs.add(exprs.mul(exprs.floordiv(exprs.ceildiv(e, word), two), two), one), word);
  };
  const Expr columns = boxes.columns ? boxes.columns->step : box_columns(kernel, boxes);
  std::array<Expr, 3> extents = {boxes.slices ? boxes.slices->step : one, boxes.rows.step, columns};
  if (has_two) extents = {boxes.rows.step, columns, kernel.extents.back()};
  extents[across] = whole(exprs.add(extents[across], exprs.constant(lanes - 1)), turn.words * lanes);
  const int axis = turn.axes[kBoxColumn];
  const Expr read = axis < 0 ? columns : tensor.extents()[static_cast<std::size_t>(axis)];
  if (!has_two) extents[kBoxColumn] = whole(exprs.min(columns, read), turn.columns);
  Expr row = extents[kBoxColumn];
  if (!has_two) row = across == kBoxRow ? odd_words(row) : exprs.max(row, whole(columns, lanes));
  const Expr rows = exprs.mul(extents[kBoxRow], row);
  const Expr slice = across == kBoxSlice ? odd_words(rows) : rows;
  return {exprs, {extents.begin(), extents.end()}, {slice, row, one}, exprs.constant(0)};
}

Expr turned_element(ir::ExprContext& exprs, const BoxTurn& turn, const LoadSource& source) {
  std::vector<Expr> index;
  for (std::size_t i = 0; i < turn.axes.size(); ++i)
    index.push_back(turn.axes[i] < 0
                        ? exprs.constant(0)
                        : exprs.sub(source.coordinates[static_cast<std::size_t>(turn.axes[i])], turn.origin[i]));
  return turn.layout.offset_of(exprs, index);
}

}  // namespace padlock::compiler
