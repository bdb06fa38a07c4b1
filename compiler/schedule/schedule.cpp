#include "compiler/schedule/schedule.h"

#include <algorithm>

namespace padlock::compiler {

using ir::Expr;

namespace {

// Above every axis, below the variables of a run.
enum VariableOrder { kRowTile = 900, kColumnTile, kTiledRows, kTiledColumns };

TileBounds bounds_of(ir::ExprContext& exprs, Expr extent, int size, Expr tile) {
  const Expr step = exprs.constant(size);
  const Expr first = exprs.mul(tile, step);
  return {.tile = tile,
          .first = first,
          .last = exprs.min(exprs.add(first, step), extent),
          .tiles = exprs.ceildiv(extent, step)};
}

}  // namespace

Tiling tiling_of(ir::ExprContext& exprs, const ThreadMap& threads) {
  Tiling made{.rows = exprs.variable("tiled_rows", kTiledRows),
              .columns = exprs.variable("tiled_columns", kTiledColumns)};
  const Expr tile = exprs.variable("column_tile", kColumnTile);
  made.row_bounds =
      bounds_of(exprs, threads.flat ? exprs.mul(made.rows, made.columns) : made.rows,
                threads.flat ? threads.tile_columns : threads.tile_rows, exprs.variable("row_tile", kRowTile));
  made.column_bounds =
      !threads.flat && threads.tile_columns > 0
          ? bounds_of(exprs, made.columns, threads.tile_columns, tile)
          : TileBounds{.tile = tile, .first = exprs.constant(0), .last = made.columns, .tiles = exprs.constant(1)};
  made.tiles = exprs.mul(made.row_bounds.tiles, made.column_bounds.tiles);
  return made;
}

Expr Schedule::tiles() const {
  if (tile) return tile->tiles;
  if (!grid) return at_size(tiling->tiles, rows, columns);
  return at_launch(exprs(), *grid, grid->tiles, exprs().mul(rows, columns), used_vectors());
}

Expr Schedule::used_vectors() const {
  return at_launch(exprs(), *grid, grid->launched, exprs().mul(rows, columns), grid->used);
}

Expr Schedule::at_size(Expr e, Expr of_rows, Expr of_columns) const {
  return exprs().substitute(e, [&](Expr symbol) {
    return symbol == tiling->rows ? of_rows : symbol == tiling->columns ? of_columns : symbol;
  });
}

TileBounds Schedule::at_size(const TileBounds& bounds, Expr of_rows, Expr of_columns) const {
  const auto at = [&](Expr e) { return at_size(e, of_rows, of_columns); };
  return {.tile = bounds.tile, .first = at(bounds.first), .last = at(bounds.last), .tiles = at(bounds.tiles)};
}

bool may_stream(const Body& body) {
  return std::ranges::any_of(
      body.strategies, [](const LoopStrategy& strategy) { return strategy.kind == LoopStrategyKind::nontemporal; });
}

bool has_row_gap(const Schedule& schedule, int body, std::size_t load) {
  ir::ExprContext& exprs = schedule.exprs();
  const auto skips = [&](const SegmentCall& call) {
    const Expr step = call.body == body ? call.streams[load].step : Expr{};
    return step.valid() && exprs.sub(step, exprs.sub(call.end, call.begin)).range().hi > 0;
  };
  return std::ranges::any_of(schedule.cases,
                             [&](const ScheduledCase& row) { return std::ranges::any_of(row.calls, skips); });
}

}  // namespace padlock::compiler
