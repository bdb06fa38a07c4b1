#pragma once

#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/loop_strategy.h"

// Lemmas about a loop strategy that hold for every kernel: each is proved once, over an arbitrary run.
namespace padlock::compiler {

/// One vector of a loop: its lanes, as an expression of the run and of the loop's trip.
struct VectorLanes {
  ir::Expr trip, lane;    ///< variables; `lane` counts through the unrolled vectors
  ir::Expr column;        ///< of the lane
  solver::Region region;  ///< the strategy's conditions and invariants, and that the trip happens
};

/// Returns the lanes of a strategy's loop over a run that is not empty.
[[nodiscard]] VectorLanes lanes_of(ir::ExprContext& exprs, const LoopStrategy& strategy, const VectorLoop& loop);

/// One way for all vectors of a strategy to miss a column of the run: the region, and the goal that must not hold
/// there. The witness is the first loop that ends after the column, its trip, and the lane.
struct Uncovered {
  solver::Region region;
  std::vector<ir::Expr> goal;
};
[[nodiscard]] std::vector<Uncovered> uncovered_by(ir::ExprContext& exprs, const LoopStrategy& strategy,
                                                  ir::Expr column);

/// Proves and caches the lemmas that the accesses of a body depend on.
class StrategyLemmas {
 public:
  /// `cache`: may be null.
  StrategyLemmas(ProofSession& session, ProofCache* cache)
      : session_(session), cache_(cache == nullptr ? own_ : *cache) {}

  /// Proves that no lane of any strategy lies outside its run.
  [[nodiscard]] bool stays_inside(const std::vector<LoopStrategy>& strategies);
  /// Proves that every strategy writes every column of a run.
  [[nodiscard]] bool covers(const std::vector<LoopStrategy>& strategies);

 private:
  using Decide = bool (StrategyLemmas::*)(const std::vector<LoopStrategy>& strategies);
  bool shown(const std::vector<LoopStrategy>& strategies, const char* what, Decide decide);
  /// Ignores the program's assumptions and has limits of its own, so that a lemma is proved in all programs or in none.
  bool excludes(const solver::Region& region, const std::vector<ir::Expr>& violated);
  bool decide_cover(const std::vector<LoopStrategy>& strategies);
  bool decide_inside(const std::vector<LoopStrategy>& strategies);

  ProofSession& session_;
  ProofCache own_;
  ProofCache& cache_;
};

}  // namespace padlock::compiler
