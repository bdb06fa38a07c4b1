#include "compiler/schedule.h"

#include <algorithm>

namespace padlock::compiler {

using ir::Expr;

namespace {

// Above every axis, below the variables of a run.
enum VariableOrder { kRowTile = 900, kColumnTile };

/// `counted`: of what there are tiles, the extent but for a seeded bug.
TileBounds bounds_of(ir::ExprContext& exprs, Expr extent, Expr counted, int size, Expr tile, Mutation mutation) {
  const auto plus = [&](Expr e, int c) { return exprs.add(e, exprs.constant(c)); };
  const Expr step = exprs.constant(size);
  const Expr first = exprs.mul(tile, step);
  const Expr end = plus(first, size);
  TileBounds bounds{
      .tile = tile, .first = first, .last = exprs.min(end, extent), .tiles = exprs.ceildiv(counted, step)};
  switch (mutation) {
    case Mutation::tile_first_early:
      bounds.first = exprs.max(plus(first, -1), exprs.constant(0));
      break;
    case Mutation::tile_first_late:
      bounds.first = plus(first, 1);
      break;
    case Mutation::tile_last_early:
      bounds.last = exprs.min(plus(end, -1), extent);
      break;
    case Mutation::tile_last_late:
      bounds.last = exprs.min(plus(end, 1), extent);
      break;
    case Mutation::tiles_rounded_down:
      bounds.tiles = exprs.floordiv(counted, step);
      break;
    default:
      break;
  }
  return bounds;
}

}  // namespace

TileBounds Schedule::row_bounds(Expr of_rows, Expr of_columns) const {
  const Expr tile = exprs().variable("row_tile", kRowTile);
  const bool elements = threads->flat && mutation != Mutation::flat_tiles_of_rows;
  const Expr all = elements ? exprs().mul(of_rows, of_columns) : of_rows;
  const int size = threads->flat ? threads->tile_columns : threads->tile_rows;
  TileBounds bounds = bounds_of(exprs(), all, all, size, tile, mutation);
  if (mutation == Mutation::tile_first_negative) bounds.first = exprs().sub(bounds.first, exprs().constant(1));
  if (mutation == Mutation::tile_last_unclamped) bounds.last = exprs().add(bounds.first, exprs().constant(size));
  return bounds;
}

TileBounds Schedule::column_bounds(Expr of_rows, Expr of_columns) const {
  const Expr tile = exprs().variable("column_tile", kColumnTile);
  if (!threads->flat && threads->tile_columns > 0) {
    const Expr counted = mutation == Mutation::column_tiles_of_rows ? of_rows : of_columns;
    return bounds_of(exprs(), of_columns, counted, threads->tile_columns, tile, mutation);
  }
  const int missed = mutation == Mutation::whole_columns_short ? 1 : 0;
  const Expr last = exprs().sub(of_columns, exprs().constant(missed));
  return {.tile = tile, .first = exprs().constant(0), .last = last, .tiles = exprs().constant(1)};
}

Expr Schedule::tiles() const {
  const Expr columns_of_tiles = column_bounds().tiles;
  return mutation == Mutation::tiles_of_one_row ? columns_of_tiles : exprs().mul(row_bounds().tiles, columns_of_tiles);
}

bool may_stream(const Body& body) {
  return std::ranges::any_of(body.walks, [](const Walk& walk) { return walk.kind == WalkKind::streamed; });
}

bool skips_elements(const Schedule& schedule, int body, std::size_t load) {
  ir::ExprContext& exprs = schedule.exprs();
  const auto skips = [&](const SegmentCall& call) {
    const Expr step = call.body == body ? call.streams[load].step : Expr{};
    return step.valid() && exprs.sub(step, exprs.sub(call.end, call.begin)).range().hi > 0;
  };
  return std::ranges::any_of(schedule.cases,
                             [&](const ScheduledCase& row) { return std::ranges::any_of(row.calls, skips); });
}

}  // namespace padlock::compiler
