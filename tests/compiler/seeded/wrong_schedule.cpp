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
    for (std::size_t i = 0; i < call.sources.size(); ++i) {
      LoadSource& source = call.sources[i];
      if (mutation == stream_off_by_one && body.loads[i].kind != LoadKind::general)
        source.base = exprs.add(source.base, one);
      if (mutation == even_rows_long && source.rows.valid()) source.rows = exprs.add(source.rows, one);
    }
  }
}

}  // namespace

void edit_segments(const Kernel& kernel, std::vector<RowCase>& cases, Mutation mutation) {
  constexpr std::array kCuts = {segment_cut_late, segment_cut_shifted, segment_cut_unclamped, segment_gap};
  if (std::ranges::find(kCuts, mutation) == kCuts.end()) return;
  for (RowCase& row : cases)
    for (Segment& segment : row.segments) cut_again(kernel.program->exprs(), segment, kernel.extents.back(), mutation);
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
  if (mutation == adjoint_order_swapped)
    for (Body& body : schedule.bodies)
      for (BodyNode& node : body.nodes) std::ranges::reverse(node.walks);
  edit_grid(schedule, mutation);
}

}  // namespace padlock::compiler
