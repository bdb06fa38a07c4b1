#include "compiler/schedule/schedule.h"

#include <algorithm>

namespace padlock::compiler {

using ir::Expr;

std::size_t Schedule::segments() const {
  std::size_t count = 0;
  for (const ScheduledCase& row : cases) count += row.calls.size();
  return count;
}

Expr Schedule::tiles() const {
  if (tile) return tile->tiles;
  return at_launch(exprs(), *grid, grid->tiles, exprs().mul(rows, columns), used_vectors());
}

Expr Schedule::used_vectors() const {
  return at_launch(exprs(), *grid, grid->launched, exprs().mul(rows, columns), grid->used);
}

std::vector<const TransposeTile*> Schedule::all_tiles() const {
  std::vector<const TransposeTile*> all;
  if (tile) all.push_back(&*tile);
  for (const TransposeTile& smaller : smaller_tiles) all.push_back(&smaller);
  return all;
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
