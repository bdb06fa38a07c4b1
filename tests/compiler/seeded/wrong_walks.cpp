#include <algorithm>

#include "tests/compiler/seeded/wrong_schedule.h"

namespace padlock::compiler {
namespace {

using enum Mutation;
using ir::Expr;

bool is_cooperative(const LoopStrategy& walk) {
  return walk.kind == LoopStrategyKind::cooperative || walk.kind == LoopStrategyKind::cooperative_realigned ||
         walk.kind == LoopStrategyKind::cooperative_aligned;
}
bool is_elements(const VectorLoop& loop) { return loop.lanes == 1 && !loop.single_trip; }
bool is_main(const VectorLoop& loop) { return loop.end_value.valid() && !loop.cyclic; }

class WalkEditor {
 public:
  WalkEditor(ir::ExprContext& exprs, const Body& body, Mutation mutation)
      : exprs_(exprs), body_(body), mutation_(mutation), run_(exprs) {}

  void edit(LoopStrategy& walk) {
    for (VectorLoop& loop : walk.loops) {
      if (mutation_ == element_loop_long && is_elements(loop)) shift(loop.limit, 1);
      if (mutation_ == main_loop_long && is_main(loop)) shift(loop.limit, 1);
    }
    VectorLoop& first = walk.loops.front();
    VectorLoop& last = walk.loops.back();
    const bool has_rest = walk.kind == LoopStrategyKind::nontemporal || is_cooperative(walk);
    if (mutation_ == peel_short && has_rest) shift(first.limit, -1);
    if (mutation_ == stream_rest_lost && has_rest) shift(last.from, 1);
    if (mutation_ == tail_loop_short && (walk.kind == LoopStrategyKind::peeled_vector || is_cooperative(walk)))
      shift(last.limit, -1);
    if (mutation_ == end_vector_late && walk.kind == LoopStrategyKind::overlapped) {
      shift(last.from, 1);
      shift(last.limit, 1);
    }
    if (walk.kind == LoopStrategyKind::peeled_vector) edit_vectors(walk);
    if (walk.kind == LoopStrategyKind::cooperative_realigned) edit_realigned(walk);
  }

 private:
  void edit_vectors(LoopStrategy& walk) {
    VectorLoop& last = walk.loops.back();
    const bool has_ends = std::ranges::count(body_.strategies, LoopStrategyKind::overlapped, &LoopStrategy::kind) > 0;
    if (mutation_ == first_vector_wide) walk.loops.front().lanes = (has_ends ? 2 * body_.lanes + 1 : body_.lanes) + 1;
    if (mutation_ == main_loop_late) shift(walk.loops[1].from, body_.lanes);
    if (mutation_ == tail_vector_late) shift(last.last, 1);
    if (mutation_ == tail_vector_early) shift(last.last, -1);
    if (mutation_ == tail_vector_unclamped) last.last = {};
  }

  /// As if what is loaded beside the chunks were in the segment, at its beginning or at its end.
  void edit_realigned(LoopStrategy& walk) {
    if (mutation_ != realigned_too_early && mutation_ != realigned_too_late) return;
    const Expr lanes = exprs_.constant(body_.lanes);
    const bool early = mutation_ == realigned_too_early;
    const Expr bound = early ? run_.segment_begin : run_.segment_end;
    const Expr far = early ? exprs_.sub(exprs_.add(run_.begin, run_.peel), lanes) : exprs_.add(run_.end, lanes);
    const auto replace = [&](Expr& e) {
      e = exprs_.substitute(e, [&](Expr symbol) { return symbol == bound ? far : symbol; });
    };
    for (Expr& test : walk.entry_conditions) replace(test);
    for (VectorLoop& loop : walk.loops) {
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
  WalkEditor editor(exprs, body, mutation);
  for (LoopStrategy& walk : body.strategies) editor.edit(walk);
}

}  // namespace padlock::compiler
