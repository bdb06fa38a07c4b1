#include "tests/compiler/seeded/wrong_schedule.h"

#include <algorithm>

namespace padlock::compiler {
namespace {

using enum Mutation;
using ir::Expr;

/// Cuts the columns again, as the segment's cuts say, but each of them wrong.
void cut_again(ir::ExprContext& exprs, Segment& segment, Expr columns, Mutation mutation) {
  const Expr one = exprs.constant(1);
  segment.begin = exprs.constant(0);
  segment.end = columns;
  for (Cut& cut : segment.cuts) {
    if (mutation == segment_cut_late) cut.at = exprs.add(cut.at, one);
    if (mutation == segment_cut_shifted) cut.at = exprs.sub(cut.at, one);
    const bool clamps = mutation != segment_cut_unclamped;
    const Expr at = clamps ? exprs.min(exprs.max(cut.at, segment.begin), segment.end) : cut.at;
    if (cut.above)
      segment.begin = mutation == segment_gap ? exprs.add(at, one) : at;
    else
      segment.end = at;
  }
}

void edit_calls(Schedule& schedule, ScheduledCase& row, Mutation mutation) {
  ir::ExprContext& exprs = schedule.exprs();
  const Expr one = exprs.constant(1);
  if (mutation == row_test_swapped) std::swap(row.holds, row.fails);
  for (SegmentCall& call : row.calls) {
    if (mutation == task_columns_ignored) {
      call.run_begin = exprs.max(call.begin, exprs.constant(0));
      call.run_end = exprs.min(call.end, schedule.columns);
    }
    const Body& body = schedule.bodies[static_cast<std::size_t>(call.body)];
    for (std::size_t i = 0; i < call.streams.size(); ++i) {
      Stream& stream = call.streams[i];
      if (mutation == stream_off_by_one && body.loads[i].kind != LoadKind::general)
        stream.base = exprs.add(stream.base, one);
      if (mutation == even_rows_long && stream.rows.valid()) stream.rows = exprs.add(stream.rows, one);
    }
  }
}

void edit_bounds(ir::ExprContext& exprs, TileBounds& bounds, int size, Expr extent, Mutation mutation) {
  const auto plus = [&](Expr e, int c) { return exprs.add(e, exprs.constant(c)); };
  const Expr first = bounds.first;
  if (mutation == tile_first_early) bounds.first = exprs.max(plus(first, -1), exprs.constant(0));
  if (mutation == tile_first_late) bounds.first = plus(first, 1);
  if (mutation == tile_last_early) bounds.last = exprs.min(plus(first, size - 1), extent);
  if (mutation == tile_last_late) bounds.last = exprs.min(plus(first, size + 1), extent);
  if (mutation == tiles_rounded_down) bounds.tiles = exprs.floordiv(extent, exprs.constant(size));
}

}  // namespace

void edit_segments(const Kernel& kernel, std::vector<RowCase>& cases, Mutation mutation) {
  constexpr std::array kCuts = {segment_cut_late, segment_cut_shifted, segment_cut_unclamped, segment_gap};
  if (std::ranges::find(kCuts, mutation) == kCuts.end()) return;
  for (RowCase& row : cases)
    for (Segment& segment : row.segments) cut_again(kernel.program->exprs(), segment, kernel.extents.back(), mutation);
}

void edit_tiling(ir::ExprContext& exprs, const ThreadMap& threads, Tiling& tiling, Mutation mutation) {
  const Expr elements = exprs.mul(tiling.rows, tiling.columns);
  const bool cut_columns = !threads.flat && threads.tile_columns > 0;
  const int size = threads.flat ? threads.tile_columns : threads.tile_rows;
  const auto tiles_of = [&](Expr extent, int of) { return exprs.ceildiv(extent, exprs.constant(of)); };
  TileBounds& rows = tiling.row_bounds;
  TileBounds& columns = tiling.column_bounds;
  edit_bounds(exprs, rows, size, threads.flat ? elements : tiling.rows, mutation);
  if (cut_columns) edit_bounds(exprs, columns, threads.tile_columns, tiling.columns, mutation);
  if (mutation == tile_last_unclamped) rows.last = exprs.add(rows.first, exprs.constant(size));
  if (mutation == tile_first_negative) rows.first = exprs.sub(rows.first, exprs.constant(1));
  if (mutation == column_tiles_of_rows && cut_columns) columns.tiles = tiles_of(tiling.rows, threads.tile_columns);
  if (mutation == flat_tiles_of_rows && threads.flat) {
    rows.last = exprs.min(exprs.add(rows.first, exprs.constant(size)), tiling.rows);
    rows.tiles = tiles_of(tiling.rows, size);
  }
  if (mutation == whole_columns_short && !cut_columns) columns.last = exprs.sub(columns.last, exprs.constant(1));
  tiling.tiles = mutation == tiles_of_one_row ? columns.tiles : exprs.mul(rows.tiles, columns.tiles);
}

void edit_schedule(Schedule& schedule, Mutation mutation) {
  ir::ExprContext& exprs = schedule.exprs();
  if (mutation == columns_short) schedule.columns = exprs.sub(schedule.columns, exprs.constant(1));
  if (mutation == rows_rounded_down) {
    const Expr two = exprs.constant(2);
    schedule.rows = exprs.mul(exprs.floordiv(schedule.rows, two), two);
  }
  for (ScheduledCase& row : schedule.cases) edit_calls(schedule, row, mutation);
  for (Body& body : schedule.bodies) edit_walks(exprs, body, mutation);
  if (schedule.threads) edit_tiling(exprs, *schedule.threads, *schedule.tiling, mutation);
}

void edit_guards(Schedule& schedule, Mutation mutation) {
  std::vector<abi::Guard>& guards = schedule.index32.guards;
  if (guards.empty()) return;
  if (mutation == narrow_guard_dropped) guards.erase(guards.begin());
  if (mutation == narrow_guard_weak) guards.front().holds.rhs = schedule.exprs().constant(Int128{1} << 33);
}

}  // namespace padlock::compiler
