#include "compiler/schedule/model/schedule.h"

#include <algorithm>

namespace padlock::compiler {

std::vector<int> Schedule::row_order() const {
  std::vector<int> order;
  for (int axis = 0; axis + 1 < kernel.rank(); ++axis)
    if (axis != row_axis) order.push_back(axis);
  if (row_axis >= 0) order.push_back(row_axis);
  return order;
}

Expr Schedule::row_step() const {
  Expr step = columns;
  for (int axis = row_axis + 1; axis + 1 < kernel.rank(); ++axis) step = exprs().mul(step, kernel.extent(axis));
  return step;
}

Expr Schedule::blocks() const {
  if (const Tiles* const tiled = tiles()) return tiled->shapes.front().tiles;
  if (const Boxes* const boxed = boxes()) return box_count(exprs(), *boxed);
  return at_launch(exprs(), *grid(), grid()->blocks, exprs().mul(rows, columns), used_vectors());
}

Expr Schedule::at_grid_launch(Expr e) const {
  return at_launch(exprs(), *grid(), e, exprs().mul(rows, columns), grid()->used);
}

Expr Schedule::at_grid_launch(Expr e, int used) const {
  return at_launch(exprs(), *grid(), e, exprs().mul(rows, columns), exprs().constant(used));
}

Expr Schedule::used_vectors() const { return at_grid_launch(grid()->launched); }

bool has_row_gap(const Schedule& schedule, int body, std::size_t load) {
  ir::ExprContext& exprs = schedule.exprs();
  const auto skips = [&](const SegmentCall& call) {
    const Expr step = call.body == body ? call.sources[load].step : Expr{};
    return step.valid() && exprs.sub(step, exprs.sub(call.end, call.begin)).range().hi > 0;
  };
  return std::ranges::any_of(schedule.calls(), skips);
}

}  // namespace padlock::compiler
