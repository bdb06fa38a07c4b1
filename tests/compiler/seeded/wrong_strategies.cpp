#include <algorithm>

#include "tests/compiler/seeded/wrong_schedule.h"

namespace padlock::compiler {
namespace {

using enum Mutation;
using ir::Expr;

bool is_elements(const VectorLoop& loop) { return (loop.lanes == 1 && !loop.single_trip) || loop.masked; }
bool is_main(const VectorLoop& loop) { return loop.end_value.valid(); }

class StrategyEditor {
 public:
  StrategyEditor(ir::ExprContext& exprs, const Body& body, Mutation mutation)
      : exprs_(exprs), body_(body), mutation_(mutation) {}

  void edit(LoopStrategy& strategy) {
    for (VectorLoop& loop : strategy.loops) {
      if (mutation_ == element_loop_long && is_elements(loop)) shift(loop.limit, 1);
      if (mutation_ == main_loop_long && is_main(loop)) shift(loop.limit, 1);
    }
    VectorLoop& first = strategy.loops.front();
    VectorLoop& last = strategy.loops.back();
    const bool has_rest = strategy.kind == LoopStrategyKind::nontemporal;
    if (mutation_ == peel_short && has_rest) shift(first.limit, -1);
    if (mutation_ == stream_rest_lost && has_rest) shift(last.from, 1);
    if (mutation_ == tail_loop_short && strategy.kind == LoopStrategyKind::peeled_vector) shift(last.limit, -1);
    if (mutation_ == end_vector_late && strategy.kind == LoopStrategyKind::overlapped) {
      shift(last.from, 1);
      shift(last.limit, 1);
    }
    if (strategy.kind == LoopStrategyKind::peeled_vector) edit_vectors(strategy);
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

  void shift(Expr& e, int by) { e = exprs_.add(e, exprs_.constant(by)); }

  ir::ExprContext& exprs_;
  const Body& body_;
  Mutation mutation_;
};

}  // namespace

void edit_walks(ir::ExprContext& exprs, Body& body, Mutation mutation) {
  StrategyEditor editor(exprs, body, mutation);
  for (LoopStrategy& strategy : body.strategies) editor.edit(strategy);
}

}  // namespace padlock::compiler
