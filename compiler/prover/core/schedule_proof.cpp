#include "compiler/prover/core/schedule_proof.h"

namespace padlock::compiler {

Expr less(ir::ExprContext& exprs, Expr a, Expr b) { return exprs.sub(exprs.sub(b, a), exprs.constant(1)); }
Expr at_least(ir::ExprContext& exprs, Expr a, Expr b) { return exprs.sub(a, b); }

void join(solver::Region& to, const solver::Region& from) {
  to.nonnegative.insert(to.nonnegative.end(), from.nonnegative.begin(), from.nonnegative.end());
  to.zero.insert(to.zero.end(), from.zero.begin(), from.zero.end());
  to.alternatives.insert(to.alternatives.end(), from.alternatives.begin(), from.alternatives.end());
}

solver::Region task_of(const Schedule& schedule, const SegmentCall& call, const solver::Region& rows) {
  ir::ExprContext& exprs = schedule.kernel.program->exprs();
  const RunVariables run(exprs);
  solver::Region region = rows;
  region.nonnegative.push_back(less(exprs, run.column_first, run.column_last));
  region.nonnegative.push_back(at_least(exprs, schedule.columns, run.column_last));
  region.nonnegative.push_back(less(exprs, call.run_begin, call.run_end));
  return region;
}

std::vector<AccessedColumns> accessed_columns(const Schedule& schedule, const SegmentCall& call,
                                              const solver::Region& rows, bool inside) {
  ir::ExprContext& exprs = schedule.kernel.program->exprs();
  const RunVariables run(exprs);
  const solver::Region task = task_of(schedule, call, rows);
  if (inside) return {{task, call.run_begin, exprs.sub(call.run_end, exprs.constant(1))}};
  std::vector<AccessedColumns> all;
  const Body& body = schedule.body_of(call);
  for (const LoopStrategy& strategy : body.strategies)
    for (const VectorLoop& loop : strategy.loops) {
      const VectorLanes vector = lanes_of(exprs, strategy, loop);
      solver::Region region = task;
      join(region, vector.region);
      region.zero.push_back(exprs.sub(run.begin, call.run_begin));
      region.zero.push_back(exprs.sub(run.end, call.run_end));
      all.push_back({std::move(region), vector.column, vector.column});
    }
  return all;
}

solver::Region output_elements(const Kernel& kernel) {
  solver::Region region;
  for (int axis = 0; axis < kernel.rank(); ++axis)
    region.nonnegative.push_back(less(kernel.program->exprs(), kernel.coordinate(axis), kernel.extent(axis)));
  return region;
}

void add_data_bounds(ir::ExprContext& exprs, solver::Region& region, const Body& body) {
  for (const BodyNode& node : body.nodes) {
    if (node.kind != NodeKind::data) continue;
    const Data data = data_of(node.terms);
    region.nonnegative.push_back(data.variable);
    region.nonnegative.push_back(exprs.sub(data.extent, data.variable));
  }
}

}  // namespace padlock::compiler
