#include "compiler/prover/core/loop_proof.h"

#include "support/steps.h"

namespace padlock::compiler {
namespace {

// Numbered after the variables of the run (compiler/schedule/model/loop_strategy.cpp).
enum VariableOrder { kTrip = 1100, kLane };

/// Returns the conditions that a loop strategy guarantees for its run and for the variables that its loops define.
solver::Region region_of(ir::ExprContext& exprs, const LoopStrategy& strategy) {
  const RunVariables run(exprs);
  solver::Region region;
  region.nonnegative = {exprs.sub(exprs.sub(run.end, run.begin), exprs.constant(1))};
  region.nonnegative.insert(region.nonnegative.end(), strategy.entry_conditions.begin(),
                            strategy.entry_conditions.end());
  region.nonnegative.insert(region.nonnegative.end(), strategy.invariants.begin(), strategy.invariants.end());
  for (const VectorLoop& loop : strategy.loops)
    if (loop.end_value.valid()) region.zero.push_back(exprs.sub(loop.end_value, end_of(exprs, loop)));
  return region;
}

/// Returns c after the loop.
Expr reached_by(ir::ExprContext& exprs, const VectorLoop& loop) {
  if (loop.end_value.valid()) return loop.end_value;
  if (loop.single_trip) return exprs.add(loop.from, exprs.constant(loop.step()));
  return end_of(exprs, loop);
}

/// Adds that the column is outside the vector that a loop moves back to `last`, possibly to before its first vector.
void missed_by_last(ir::ExprContext& exprs, const VectorLoop& loop, Expr column, solver::Region& region) {
  if (!loop.last.valid()) return;
  const Expr one = exprs.constant(1);
  const Expr step = exprs.constant(loop.step());
  region.alternatives.push_back({
      exprs.sub(loop.from, loop.limit),                                   // no trip
      exprs.sub(exprs.sub(loop.last, exprs.sub(loop.limit, step)), one),  // no vector may be moved so
      exprs.sub(exprs.sub(loop.last, column), one),                       // the vector begins after the column
      exprs.sub(exprs.sub(column, loop.last), step),                      // the vector ends before the column
  });
}

/// States the lemma in text that means the same for every kernel.
std::string statement_of(ir::ExprContext& exprs, const std::vector<LoopStrategy>& strategies, const char* what) {
  std::string text = what;
  const auto add = [&](Expr e) { text += e.valid() ? " " + ir::to_string(exprs, e) + "," : " -,"; };
  for (const LoopStrategy& strategy : strategies) {
    text += ";";
    for (const Expr e : strategy.entry_conditions) add(e);
    for (const Expr e : strategy.invariants) add(e);
    for (const VectorLoop& loop : strategy.loops) {
      text += " |" + std::to_string(loop.lanes) + " " + std::to_string(loop.step()) +
              (loop.single_trip ? " once" : "") + (loop.masked ? " masked" : "");
      for (const Expr e : {loop.from, loop.limit, loop.last, loop.end_value}) add(e);
    }
  }
  return text;
}

}  // namespace

VectorLanes lanes_of(ir::ExprContext& exprs, const LoopStrategy& strategy, const VectorLoop& loop) {
  VectorLanes made{.trip = exprs.variable("trip", kTrip),
                   .lane = exprs.variable("lane", kLane),
                   .column = {},
                   .region = region_of(exprs, strategy)};
  const Expr one = exprs.constant(1);
  const Expr c = loop.single_trip ? loop.from : exprs.add(loop.from, exprs.mul(exprs.constant(loop.step()), made.trip));
  if (!loop.single_trip) made.region.nonnegative.push_back(exprs.sub(exprs.sub(loop.limit, c), one));
  made.region.nonnegative.push_back(exprs.sub(exprs.constant(loop.step() - 1), made.lane));
  made.column = exprs.add(loop.last.valid() ? exprs.min(c, loop.last) : c, made.lane);
  if (loop.masked) made.region.nonnegative.push_back(exprs.sub(exprs.sub(loop.limit, made.column), one));
  return made;
}

std::vector<Uncovered> uncovered_by(ir::ExprContext& exprs, const LoopStrategy& strategy, Expr column) {
  const RunVariables run(exprs);
  const Expr one = exprs.constant(1);
  // The loops before this one end before the column: an overlapping loop may begin before the end of another.
  solver::Region region = region_of(exprs, strategy);
  region.nonnegative.push_back(exprs.sub(column, run.begin));
  std::vector<Uncovered> ways;
  const auto add = [&](solver::Region part, Expr violated) { ways.push_back({std::move(part), {violated}}); };
  for (std::size_t i = 0; i < strategy.loops.size(); ++i) {
    const VectorLoop& loop = strategy.loops[i];
    const Expr reached = reached_by(exprs, loop);
    solver::Region here = region;
    for (std::size_t later = i + 1; later < strategy.loops.size(); ++later)
      missed_by_last(exprs, strategy.loops[later], column, here);
    here.nonnegative.push_back(exprs.sub(exprs.sub(reached, column), one));
    here.nonnegative.push_back(exprs.sub(exprs.sub(run.end, column), one));
    add(here, exprs.sub(exprs.sub(loop.from, column), one));  // before the loop begins
    // The trip that begins at `c` is the last one to begin at or before the column.
    const Expr step = exprs.constant(loop.step());
    const Expr past = exprs.mod(exprs.sub(column, loop.from), step);
    const Expr c = exprs.sub(column, past);
    if (!loop.single_trip) add(here, exprs.sub(c, loop.limit));  // the trip does not happen
    if (loop.last.valid()) {
      const Expr chunk = exprs.min(c, loop.last);
      add(here, exprs.sub(exprs.sub(column, chunk), step));  // the chunk lies before the column
      add(here, exprs.sub(exprs.sub(chunk, column), one));   // or after it
    }
    region.nonnegative.push_back(exprs.sub(column, reached));
  }
  add(std::move(region), exprs.sub(exprs.sub(run.end, column), one));  // after all loops
  return ways;
}

bool StrategyLemmas::stays_inside(const std::vector<LoopStrategy>& strategies) {
  return shown(strategies, "stays inside", &StrategyLemmas::decide_inside);
}
bool StrategyLemmas::covers(const std::vector<LoopStrategy>& strategies) {
  return shown(strategies, "covers", &StrategyLemmas::decide_cover);
}

bool StrategyLemmas::shown(const std::vector<LoopStrategy>& strategies, const char* what, Decide decide) {
  std::string statement = statement_of(session_.exprs(), strategies, what);
  if (const std::optional<bool> known = cache_.lemma(statement)) return *known;
  const UnchargedSteps nobody;
  const bool holds = (this->*decide)(strategies);
  // A failed proof may only mean that a budget was used up.
  if (holds) cache_.add_lemma(std::move(statement), holds);
  return holds;
}

bool StrategyLemmas::excludes(const solver::Region& region, const std::vector<Expr>& violated) {
  solver::SearchLimits limits = session_.limits();
  limits.steps = solver::SearchLimits{}.steps;  // not the program's remaining steps
  solver::Feasibility any_program(session_.exprs(), limits, &session_.solver());
  return any_program.ask(region, violated, solver::Feasibility::Effort::connected).kind == solver::Answer::Kind::empty;
}

bool StrategyLemmas::decide_cover(const std::vector<LoopStrategy>& strategies) {
  // Any coordinate serves as the variable for the run's columns.
  const Expr column = session_.exprs().coordinate(0);
  for (const LoopStrategy& strategy : strategies)
    for (const Uncovered& way : uncovered_by(session_.exprs(), strategy, column))
      if (!excludes(way.region, way.goal)) return false;
  return true;
}

bool StrategyLemmas::decide_inside(const std::vector<LoopStrategy>& strategies) {
  ir::ExprContext& exprs = session_.exprs();
  const RunVariables run(exprs);
  for (const LoopStrategy& strategy : strategies)
    for (const VectorLoop& loop : strategy.loops) {
      const VectorLanes lanes = lanes_of(exprs, strategy, loop);
      const Expr before = exprs.sub(exprs.sub(run.begin, lanes.column), exprs.constant(1));
      if (!excludes(lanes.region, {before})) return false;
      if (!excludes(lanes.region, {exprs.sub(lanes.column, run.end)})) return false;
    }
  return true;
}

}  // namespace padlock::compiler
