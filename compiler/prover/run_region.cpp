#include "compiler/prover/run_region.h"

namespace padlock::compiler {

using ir::Expr;

Expr less(ir::ExprContext& exprs, Expr a, Expr b) { return exprs.sub(exprs.sub(b, a), exprs.constant(1)); }
Expr at_least(ir::ExprContext& exprs, Expr a, Expr b) { return exprs.sub(a, b); }

void join(Region& to, const Region& from) {
  to.nonnegative.insert(to.nonnegative.end(), from.nonnegative.begin(), from.nonnegative.end());
  to.zero.insert(to.zero.end(), from.zero.begin(), from.zero.end());
  to.alternatives.insert(to.alternatives.end(), from.alternatives.begin(), from.alternatives.end());
}

Region task_of(const Schedule& schedule, const SegmentCall& call, const Region& rows) {
  ir::ExprContext& exprs = schedule.kernel.program->exprs();
  const RunVariables run(exprs);
  Region region = rows;
  region.nonnegative.push_back(less(exprs, run.column_first, run.column_last));
  region.nonnegative.push_back(at_least(exprs, schedule.columns, run.column_last));
  region.nonnegative.push_back(less(exprs, call.run_begin, call.run_end));
  return region;
}

std::vector<Lanes> lanes_of_call(const Schedule& schedule, const SegmentCall& call, const Region& rows, bool inside,
                                 Touch touch) {
  ir::ExprContext& exprs = schedule.kernel.program->exprs();
  const RunVariables run(exprs);
  const Region task = task_of(schedule, call, rows);
  if (inside) return {{task, call.run_begin, exprs.sub(call.run_end, exprs.constant(1))}};
  std::vector<Lanes> all;
  for (const Walk& walk : schedule.bodies[static_cast<std::size_t>(call.body)].walks)
    for (const ChunkLoop& loop : walk.loops) {
      const ChunkLanes chunk = lanes_of(exprs, walk, loop, touch);
      Region region = task;
      join(region, chunk.region);
      region.zero.push_back(exprs.sub(run.begin, call.run_begin));
      region.zero.push_back(exprs.sub(run.end, call.run_end));
      all.push_back({std::move(region), chunk.column, chunk.column});
    }
  return all;
}

}  // namespace padlock::compiler
