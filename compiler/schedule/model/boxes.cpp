#include "compiler/schedule/model/boxes.h"

namespace padlock::compiler {

using ir::Expr;

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

Expr box_slice_vectors(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr columns = boxes.columns ? boxes.columns->step : kernel.extents.back();
  const Expr elements = at_launch(exprs, boxes, exprs.mul(boxes.rows.step, columns));
  return exprs.max(exprs.ceildiv(elements, exprs.constant(boxes.lanes)), exprs.constant(1));
}

Expr box_first_element(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr zero = exprs.constant(0);
  Expr first = kernel.element_at(boxes.columns ? boxes.columns->first : zero);
  for (int axis = boxes.row_axis; axis + 1 < kernel.rank(); ++axis)
    first = replaced(exprs, first, kernel.coordinate(axis), zero);
  return exprs.add(first, exprs.mul(boxes.rows.first, kernel.extents.back()));
}

Expr box_rows_apart(const Kernel& kernel, const Boxes& boxes) {
  ir::ExprContext& exprs = kernel.exprs();
  return exprs.min(exprs.sub(boxes.rows.launched, exprs.constant(1)),
                   exprs.sub(kernel.extents.back(), boxes.columns->launched));
}

RunEnds run_ends(ir::ExprContext& exprs, Expr first, Expr last, Expr moved, Expr extent) {
  const Expr one = exprs.constant(1);
  const auto within = [&](Expr e) { return exprs.min(exprs.max(exprs.add(e, moved), exprs.constant(0)), extent); };
  return {within(first), exprs.sub(within(exprs.add(last, one)), one)};
}

RunEnds box_range(const Kernel& kernel, const Boxes& boxes, int axis) {
  ir::ExprContext& exprs = kernel.exprs();
  if (axis + 1 == kernel.rank())
    return boxes.columns ? RunEnds{boxes.columns->from, boxes.columns->last}
                         : RunEnds{exprs.constant(0), exprs.sub(kernel.extents.back(), exprs.constant(1))};
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

ir::Layout turned_layout(const Kernel& kernel, const Boxes& boxes, BoxAxis across, int lanes) {
  ir::ExprContext& exprs = kernel.exprs();
  const Expr word = exprs.constant(lanes);
  const auto whole = [&](Expr e, Expr unit) { return exprs.mul(exprs.ceildiv(e, unit), unit); };
  const auto extent_of = [&](Expr step, BoxAxis axis) {
    const Expr together = exprs.constant(turned_words(lanes) * lanes);
    if (axis == across) return whole(lanes == 1 ? step : exprs.add(step, exprs.sub(word, exprs.constant(1))), together);
    return axis == kBoxColumn ? whole(step, exprs.constant(kTurnedElements)) : step;
  };
  const auto odd_words = [&](Expr e) {
    const Expr two = exprs.constant(2);
    return exprs.mul(exprs.add(exprs.mul(exprs.floordiv(exprs.ceildiv(e, word), two), two), exprs.constant(1)), word);
  };
  const Expr columns = extent_of(boxes.columns ? boxes.columns->step : kernel.extents.back(), kBoxColumn);
  const Expr rows = extent_of(boxes.rows.step, kBoxRow);
  const Expr slices = extent_of(boxes.slices ? boxes.slices->step : exprs.constant(1), kBoxSlice);
  const Expr row = across == kBoxRow ? odd_words(columns) : columns;
  const Expr slice = across == kBoxSlice ? odd_words(exprs.mul(rows, row)) : exprs.mul(rows, row);
  return {exprs, {slices, rows, columns}, {slice, row, exprs.constant(1)}, exprs.constant(0)};
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
