#include "compiler/prover/access_regions.h"

#include <algorithm>

namespace padlock::compiler {

using ir::Expr;

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

namespace {

/// Returns how far beyond a vector its realigned load reads: the two aligned vectors begin with up to lanes - 1
/// elements before the one that is cut out of them; at least one where the body has no other vector, since all would be
/// aligned.
Reach reach_of(const Body& body, std::size_t load, const VectorLoop& loop) {
  if (loop.loads != VectorLoads::realigned || !is_vector(body.loads[load])) return {};
  const int least = std::ranges::count_if(body.loads, is_vector) == 1 ? 1 : 0;
  const Reach forward{.before = loop.lanes - 1, .after = loop.lanes - least};
  if (body.loads[load].kind == LoadKind::reversed) return {.before = forward.after, .after = forward.before};
  return forward;
}

}  // namespace

std::vector<Lanes> accessed_columns(const Schedule& schedule, const SegmentCall& call, const solver::Region& rows,
                                    bool inside, Touch touch, std::size_t load) {
  ir::ExprContext& exprs = schedule.kernel.program->exprs();
  const RunVariables run(exprs);
  const solver::Region task = task_of(schedule, call, rows);
  if (inside) return {{task, call.run_begin, exprs.sub(call.run_end, exprs.constant(1))}};
  std::vector<Lanes> all;
  const Body& body = schedule.bodies[static_cast<std::size_t>(call.body)];
  for (const LoopStrategy& strategy : body.strategies)
    for (const VectorLoop& loop : strategy.loops) {
      const Reach reach = touch == Touch::loaded ? reach_of(body, load, loop) : Reach{};
      const VectorLanes vector = lanes_of(exprs, strategy, loop, reach);
      solver::Region region = task;
      join(region, vector.region);
      region.zero.push_back(exprs.sub(run.begin, call.run_begin));
      region.zero.push_back(exprs.sub(run.end, call.run_end));
      region.zero.push_back(exprs.sub(run.segment_begin, call.begin));
      region.zero.push_back(exprs.sub(run.segment_end, call.end));
      all.push_back({std::move(region), vector.column, vector.column});
    }
  return all;
}

}  // namespace padlock::compiler
