#include <algorithm>

#include "tests/compiler/seeded/wrong_schedule.h"

namespace padlock::compiler {
namespace {

using enum Mutation;
using ir::Expr;

bool is_cooperative(const LoopStrategy& strategy) {
  return strategy.kind == LoopStrategyKind::cooperative || strategy.kind == LoopStrategyKind::cooperative_realigned ||
         strategy.kind == LoopStrategyKind::cooperative_aligned;
}
bool is_elements(const VectorLoop& loop) { return loop.lanes == 1 && !loop.single_trip; }
bool is_main(const VectorLoop& loop) { return loop.end_value.valid() && !loop.cyclic; }

class StrategyEditor {
 public:
  StrategyEditor(ir::ExprContext& exprs, const Body& body, Mutation mutation)
      : exprs_(exprs), body_(body), mutation_(mutation), run_(exprs) {}

  void edit(LoopStrategy& strategy) {
    for (VectorLoop& loop : strategy.loops) {
      if (mutation_ == element_loop_long && is_elements(loop)) shift(loop.limit, 1);
      if (mutation_ == main_loop_long && is_main(loop)) shift(loop.limit, 1);
    }
    VectorLoop& first = strategy.loops.front();
    VectorLoop& last = strategy.loops.back();
    const bool has_rest = strategy.kind == LoopStrategyKind::nontemporal || is_cooperative(strategy);
    if (mutation_ == peel_short && has_rest) shift(first.limit, -1);
    if (mutation_ == stream_rest_lost && has_rest) shift(last.from, 1);
    if (mutation_ == tail_loop_short && (strategy.kind == LoopStrategyKind::peeled_vector || is_cooperative(strategy)))
      shift(last.limit, -1);
    if (mutation_ == end_vector_late && strategy.kind == LoopStrategyKind::overlapped) {
      shift(last.from, 1);
      shift(last.limit, 1);
    }
    if (strategy.kind == LoopStrategyKind::peeled_vector) edit_vectors(strategy);
    if (strategy.kind == LoopStrategyKind::cooperative_realigned) edit_realigned(strategy);
  }

 private:
  void edit_vectors(LoopStrategy& strategy) {
    VectorLoop& last = strategy.loops.back();
    const bool has_ends = std::ranges::count(body_.strategies, LoopStrategyKind::overlapped, &LoopStrategy::kind) > 0;
    if (mutation_ == first_vector_wide)
      strategy.loops.front().lanes = (has_ends ? 2 * body_.lanes + 1 : body_.lanes) + 1;
    if (mutation_ == main_loop_late) shift(strategy.loops[1].from, body_.lanes);
    if (mutation_ == tail_vector_late) shift(last.last, 1);
    if (mutation_ == tail_vector_early) shift(last.last, -1);
    if (mutation_ == tail_vector_unclamped) last.last = {};
  }

  /// As if what is loaded beside the chunks were in the segment, at its beginning or at its end.
  void edit_realigned(LoopStrategy& strategy) {
    if (mutation_ != realigned_too_early && mutation_ != realigned_too_late) return;
    const Expr lanes = exprs_.constant(body_.lanes);
    const bool early = mutation_ == realigned_too_early;
    const Expr bound = early ? run_.segment_begin : run_.segment_end;
    const Expr far = early ? exprs_.sub(exprs_.add(run_.begin, run_.peel), lanes) : exprs_.add(run_.end, lanes);
    const auto replace = [&](Expr& e) {
      e = exprs_.substitute(e, [&](Expr symbol) { return symbol == bound ? far : symbol; });
    };
    for (Expr& test : strategy.entry_conditions) replace(test);
    for (VectorLoop& loop : strategy.loops) {
      replace(loop.from);
      replace(loop.limit);
    }
  }

  void shift(Expr& e, int by) { e = exprs_.add(e, exprs_.constant(by)); }

  ir::ExprContext& exprs_;
  const Body& body_;
  Mutation mutation_;
  RunVariables run_;
};

}  // namespace

void edit_walks(ir::ExprContext& exprs, Body& body, Mutation mutation) {
  StrategyEditor editor(exprs, body, mutation);
  for (LoopStrategy& strategy : body.strategies) editor.edit(strategy);
}

}  // namespace padlock::compiler
