#include "compiler/schedule/model/loop_strategy.h"

#include <algorithm>

namespace padlock::compiler {

using ir::Expr;

namespace {

// Above every axis.
enum VariableOrder { kColumnFirst = 1000, kColumnLast, kBegin, kEnd, kShift, kPeel, kReached };

class StrategyBuilder {
 public:
  StrategyBuilder(ir::ExprContext& exprs, const LoopStrategyOptions& options)
      : exprs_(exprs), options_(options), run_(exprs), lanes_(exprs.constant(options.lanes)) {}

  std::vector<LoopStrategy> build() {
    std::vector<LoopStrategy> strategies = {scalar()};
    if (options_.lanes == 1) return strategies;
    if (options_.masked) return {masked_vector()};
    if (options_.whole) {
      strategies.push_back(whole_vector());
      return strategies;
    }
    for (int lanes = options_.narrowest; lanes > 0 && lanes <= options_.lanes; lanes *= 2)
      strategies.push_back(overlapped(lanes));
    strategies.push_back(peeled_vector());
    if (options_.line > 0) strategies.push_back(nontemporal());
    return strategies;
  }

 private:
  LoopStrategy scalar() { return {.loops = {element_loop(run_.begin, run_.end)}}; }

  /// A run is a part of a vector's columns, so it is no longer than a vector.
  LoopStrategy whole_vector() {
    const Expr length = exprs_.sub(run_.end, run_.begin);
    return {
        .kind = LoopStrategyKind::whole_vector,
        .entry_conditions = {exprs_.sub(length, lanes_)},
        .invariants = {exprs_.sub(lanes_, length)},
        .loops = {{.from = run_.begin, .limit = plus(run_.begin, 1), .lanes = options_.lanes, .single_trip = true}}};
  }

  LoopStrategy masked_vector() {
    return {.kind = LoopStrategyKind::masked_vector,
            .loops = {{.from = run_.begin, .limit = run_.end, .lanes = options_.lanes, .masked = true}}};
  }

  LoopStrategy overlapped(int lanes) {
    const Expr length = exprs_.sub(run_.end, run_.begin);
    // Longer runs are for the next strategy.
    const int most = lanes == options_.lanes ? 2 * lanes : 2 * lanes - 1;
    LoopStrategy strategy{.kind = LoopStrategyKind::overlapped,
                          .entry_conditions = {plus(length, -lanes)},
                          .invariants = {exprs_.sub(exprs_.constant(most), length)}};
    for (const Expr from : {run_.begin, plus(run_.end, -lanes)})
      strategy.loops.push_back({.from = from, .limit = plus(from, 1), .lanes = lanes, .single_trip = true});
    return strategy;
  }

  LoopStrategy peeled_vector() {
    // Runs of up to two vectors are for overlapped strategies, if there are any.
    const int least = options_.narrowest > 0 ? 2 * options_.lanes + 1 : options_.lanes;
    LoopStrategy strategy{.kind = LoopStrategyKind::peeled_vector,
                          .entry_conditions = {plus(exprs_.sub(run_.end, run_.begin), -least)},
                          .invariants = {below(run_.shift, options_.lanes)}};
    strategy.loops.push_back(
        {.from = run_.begin, .limit = plus(run_.begin, 1), .lanes = options_.lanes, .single_trip = true});
    const Expr aligned = exprs_.sub(exprs_.add(run_.begin, lanes_), run_.shift);
    const bool has_main = options_.unroll > 1;
    if (has_main) strategy.loops.push_back(main_loop(aligned, run_.end, options_.unroll));
    strategy.loops.push_back({.from = has_main ? run_.reached : aligned,
                              .limit = run_.end,
                              .lanes = options_.lanes,
                              .last = exprs_.sub(run_.end, lanes_)});
    return strategy;
  }

  LoopStrategy nontemporal() {
    const Expr first = exprs_.add(run_.begin, run_.peel);
    // The same for all rows, at any offset in a cache line.
    const Int128 shortest = Int128{kNontemporalLines + 1} * options_.line - 1;
    LoopStrategy strategy{.kind = LoopStrategyKind::nontemporal,
                          .line = options_.line,
                          .entry_conditions = {plus(exprs_.sub(run_.end, run_.begin), -shortest)},
                          .invariants = {below(run_.peel, options_.line)}};
    const int unroll = std::max(options_.unroll, options_.line / options_.lanes);
    strategy.loops.push_back(element_loop(run_.begin, first));
    strategy.loops.push_back(main_loop(first, run_.end, unroll));
    strategy.loops.back().nontemporal = true;
    strategy.loops.push_back(element_loop(run_.reached, run_.end));
    // Loops that access exactly the elements of a run may use any strategy: each is proved to access no others.
    strategy.loops.front().delegated = strategy.loops.back().delegated = true;
    return strategy;
  }

  VectorLoop element_loop(Expr from, Expr limit) { return {.from = from, .limit = limit}; }

  /// Makes the loop of whole trips up to `end`.
  VectorLoop main_loop(Expr from, Expr end, int unroll) {
    const int step = options_.lanes * unroll;
    return {.from = from,
            .limit = plus(end, 1 - step),
            .lanes = options_.lanes,
            .unroll = unroll,
            .end_value = run_.reached};
  }

  Expr below(Expr e, int bound) { return exprs_.sub(exprs_.constant(bound - 1), e); }
  Expr plus(Expr e, Int128 c) { return exprs_.add(e, exprs_.constant(c)); }

  ir::ExprContext& exprs_;
  const LoopStrategyOptions& options_;
  RunVariables run_;
  Expr lanes_;
};

}  // namespace

RunVariables::RunVariables(ir::ExprContext& exprs)
    : column_first(exprs.variable("column_first", kColumnFirst)),
      column_last(exprs.variable("column_last", kColumnLast)),
      begin(exprs.variable("begin", kBegin)),
      end(exprs.variable("end", kEnd)),
      shift(exprs.variable("shift", kShift)),
      peel(exprs.variable("peel", kPeel)),
      reached(exprs.variable("reached", kReached)) {}

std::vector<LoopStrategy> make_loop_strategies(ir::ExprContext& exprs, const LoopStrategyOptions& options) {
  return StrategyBuilder(exprs, options).build();
}

LoopStrategy whole_vectors(ir::ExprContext& exprs, int lanes) {
  const RunVariables run(exprs);
  const Expr last = exprs.sub(run.end, exprs.constant(lanes));
  return {.kind = LoopStrategyKind::whole_vectors,
          .entry_conditions = {exprs.sub(last, run.begin)},
          .loops = {{.from = run.begin, .limit = run.end, .lanes = lanes, .last = last}}};
}

/// Returns from + step * the number of trips.
Expr end_of(ir::ExprContext& exprs, const VectorLoop& loop) {
  const Expr step = exprs.constant(loop.step());
  const Expr trips = exprs.max(exprs.ceildiv(exprs.sub(loop.limit, loop.from), step), exprs.constant(0));
  return exprs.add(loop.from, exprs.mul(step, trips));
}

}  // namespace padlock::compiler
