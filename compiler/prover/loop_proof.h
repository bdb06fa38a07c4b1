#pragma once

#include <string>
#include <vector>

#include "compiler/prover/proof_session.h"
#include "compiler/schedule/loop_strategy.h"

// What holds of a walk whatever the kernel: shown once for a walk, over an arbitrary run.
namespace padlock::compiler {

/// One chunk of a loop: its lanes, as an expression of the run and of the loop's trip.
struct ChunkLanes {
  ir::Expr trip, lane;    ///< variables; `lane` counts through the unrolled chunks
  ir::Expr column;        ///< of the lane
  solver::Region region;  ///< the walk's tests and bounds, and that the trip happens
};

/// Columns beside a chunk that are touched, too.
struct Reach {
  int before = 0, after = 0;
};

/// The lanes of a loop of a walk of a run that is not empty.
[[nodiscard]] ChunkLanes lanes_of(ir::ExprContext& exprs, const LoopStrategy& walk, const VectorLoop& loop, Reach reach = {});

/// `column`, in the run, is written by no chunk of the walk: each region with its goal is one way. The witness is the
/// first loop that ends after the column, its trip, and the lane.
struct Uncovered {
  solver::Region region;
  std::vector<ir::Expr> goal;
};
[[nodiscard]] std::vector<Uncovered> uncovered_by(ir::ExprContext& exprs, const LoopStrategy& walk, ir::Expr column);

/// Shows, and remembers, what the accesses of a body rest on.
class WalkLemmas {
 public:
  /// `cache`: may be null.
  WalkLemmas(ProofSession& session, ProofCache* cache) : session_(session), cache_(cache == nullptr ? own_ : *cache) {}

  /// No lane of any walk lies outside its run, nor what is loaded for it outside the run's segment.
  [[nodiscard]] bool stays_inside(const std::vector<LoopStrategy>& strategies);
  /// Every column of a run is written by every walk.
  [[nodiscard]] bool covers(const std::vector<LoopStrategy>& strategies);
  /// No column of a run is in the chunks of two loops of one of the strategies.
  [[nodiscard]] bool loops_are_apart(const std::vector<LoopStrategy>& strategies);

 private:
  using Decide = bool (WalkLemmas::*)(const std::vector<LoopStrategy>& strategies);
  bool shown(const std::vector<LoopStrategy>& strategies, const char* what, Decide decide);
  bool decide_cover(const std::vector<LoopStrategy>& strategies);
  bool decide_inside(const std::vector<LoopStrategy>& strategies);
  bool decide_apart(const std::vector<LoopStrategy>& strategies);

  ProofSession& session_;
  ProofCache own_;
  ProofCache& cache_;
};

}  // namespace padlock::compiler
