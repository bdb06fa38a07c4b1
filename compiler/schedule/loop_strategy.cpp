#include "compiler/schedule/loop_strategy.h"

#include <algorithm>

namespace padlock::compiler {

using ir::Expr;

namespace {

// Above every axis.
enum VariableOrder {
  kColumnFirst = 1000,
  kColumnLast,
  kBegin,
  kEnd,
  kShift,
  kPeel,
  kReached,
  kRest,
  kSegmentBegin,
  kSegmentEnd
};

class StrategyBuilder {
 public:
  StrategyBuilder(ir::ExprContext& exprs, const LoopStrategyOptions& options)
      : exprs_(exprs), options_(options), run_(exprs), lanes_(exprs.constant(options.lanes)) {}

  std::vector<LoopStrategy> build() {
    std::vector<LoopStrategy> strategies = {scalar()};
    if (options_.lanes == 1) return strategies;
    if (options_.whole) {
      strategies.push_back(whole_vector());
      return strategies;
    }
    if (options_.team > 0) {
      const bool realign = options_.loads && options_.realign;
      strategies.push_back(realign ? cooperative(LoopStrategyKind::cooperative_realigned, VectorLoads::realigned)
                                   : cooperative(LoopStrategyKind::cooperative, VectorLoads::apart));
      if (options_.loads)
        strategies.push_back(cooperative(LoopStrategyKind::cooperative_aligned, VectorLoads::aligned));
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

  /// A run is a part of a vector's columns: no longer than it.
  LoopStrategy whole_vector() {
    const Expr length = exprs_.sub(run_.end, run_.begin);
    return {
        .kind = LoopStrategyKind::whole_vector,
        .entry_conditions = {exprs_.sub(length, lanes_)},
        .invariants = {exprs_.sub(lanes_, length)},
        .loops = {{.from = run_.begin, .limit = plus(run_.begin, 1), .lanes = options_.lanes, .single_trip = true}}};
  }

  LoopStrategy overlapped(int lanes) {
    const Expr length = exprs_.sub(run_.end, run_.begin);
    // Longer runs belong to the next strategy.
    const int most = lanes == options_.lanes ? 2 * lanes : 2 * lanes - 1;
    LoopStrategy strategy{.kind = LoopStrategyKind::overlapped,
                          .entry_conditions = {plus(length, -lanes)},
                          .invariants = {exprs_.sub(exprs_.constant(most), length)}};
    for (const Expr from : {run_.begin, plus(run_.end, -lanes)})
      strategy.loops.push_back({.from = from, .limit = plus(from, 1), .lanes = lanes, .single_trip = true});
    return strategy;
  }

  LoopStrategy peeled_vector() {
    // Runs of up to two vectors are for overlapped strategies, where there are any.
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
    // The same for all rows, wherever in its line each begins.
    const Int128 shortest = Int128{kStreamedLines + 1} * options_.line - 1;
    LoopStrategy strategy{.kind = LoopStrategyKind::nontemporal,
                          .line = options_.line,
                          .entry_conditions = {plus(exprs_.sub(run_.end, run_.begin), -shortest)},
                          .invariants = {below(run_.peel, options_.line)}};
    const int unroll = std::max(options_.unroll, options_.line / options_.lanes);
    strategy.loops.push_back(element_loop(run_.begin, first));
    strategy.loops.push_back(main_loop(first, run_.end, unroll));
    strategy.loops.back().nontemporal = true;
    strategy.loops.push_back(element_loop(run_.reached, run_.end));
    // Loops that access each element of a run and no other may use any strategy: each is proved to do no more.
    strategy.loops.front().delegated = strategy.loops.back().delegated = true;
    return strategy;
  }

  LoopStrategy cooperative(LoopStrategyKind kind, VectorLoads loads) {
    // A realigned vector has two vectors on their way at once, as two others have.
    const int unroll = loads == VectorLoads::realigned ? (options_.unroll + 1) / 2 : options_.unroll;
    Expr first = exprs_.add(run_.begin, run_.peel);
    Expr end = run_.end;
    if (loads == VectorLoads::realigned) {
      // The aligned vectors around lie in the segment, though not in the run: one vector later at most, and some
      // earlier.
      const Expr missing = exprs_.sub(plus(run_.segment_begin, options_.lanes), first);
      const Expr late = exprs_.min(exprs_.max(missing, exprs_.constant(0)), exprs_.constant(1));
      first = exprs_.add(first, exprs_.mul(lanes_, late));
      end = exprs_.min(end, plus(run_.segment_end, -options_.lanes));
    }
    LoopStrategy strategy{.kind = kind,
                          .line = options_.lanes,
                          .entry_conditions = {plus(exprs_.sub(end, first), -options_.lanes)},
                          .invariants = {below(run_.peel, options_.lanes)}};
    if (loads == VectorLoads::realigned)
      for (const Expr bound : {exprs_.sub(run_.begin, run_.segment_begin), exprs_.sub(run_.segment_end, run_.end)})
        strategy.invariants.push_back(bound);
    strategy.loops.push_back(element_loop(run_.begin, first));
    if (unroll > 1) strategy.loops.push_back(main_loop(first, end, unroll));
    strategy.loops.push_back({.from = unroll > 1 ? run_.reached : first,
                              .limit = plus(end, 1 - options_.lanes),
                              .lanes = options_.lanes,
                              .team = options_.team,
                              .cyclic = true,
                              .end_value = run_.rest});
    for (std::size_t i = 1; i < strategy.loops.size(); ++i) {
      strategy.loops[i].aligned = true;
      strategy.loops[i].loads = loads;
      strategy.loops[i].nontemporal = options_.streaming;
    }
    strategy.loops.push_back(element_loop(run_.rest, run_.end));
    return strategy;
  }

  VectorLoop element_loop(Expr from, Expr limit) {
    return {.from = from, .limit = limit, .team = team(), .cyclic = options_.team > 0};
  }
  [[nodiscard]] int team() const { return std::max(options_.team, 1); }

  /// Whole trips up to `end` only.
  VectorLoop main_loop(Expr from, Expr end, int unroll) {
    const int step = options_.lanes * unroll * team();
    return {.from = from,
            .limit = plus(end, 1 - step),
            .lanes = options_.lanes,
            .unroll = unroll,
            .team = team(),
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
      reached(exprs.variable("reached", kReached)),
      rest(exprs.variable("rest", kRest)),
      segment_begin(exprs.variable("segment_begin", kSegmentBegin)),
      segment_end(exprs.variable("segment_end", kSegmentEnd)) {}

std::vector<LoopStrategy> make_loop_strategies(ir::ExprContext& exprs, const LoopStrategyOptions& options) {
  return StrategyBuilder(exprs, options).build();
}

/// from + step * the number of trips.
Expr end_of(ir::ExprContext& exprs, const VectorLoop& loop) {
  const Expr step = exprs.constant(loop.step());
  const Expr trips = exprs.max(exprs.ceildiv(exprs.sub(loop.limit, loop.from), step), exprs.constant(0));
  return exprs.add(loop.from, exprs.mul(step, trips));
}

}  // namespace padlock::compiler
