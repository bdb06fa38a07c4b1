#pragma once

#include <string>

#include "compiler/prover/core/loop_proof.h"
#include "compiler/prover/core/schedule_proof.h"

namespace padlock::compiler {

/// Proves that the segments of a case write each column of its rows, stay inside the result and their task, and align
/// vectors where they claim to.
class WriteProver : private ScheduleProof {
 public:
  /// Borrows all. Adds obligations to `proof`.
  WriteProver(ProofSession& session, StrategyLemmas& lemmas, const Schedule& schedule, Proof& proof);

  /// `rows`: the region of the case's rows.
  void prove(const ScheduledCase& row, const solver::Region& rows);

 private:
  void prove_segments_cover(const ScheduledCase& row, const solver::Region& rows);
  void prove_segment(const SegmentCall& call, const solver::Region& rows);
  void prove_stores(const SegmentCall& call, const solver::Region& rows, bool inside);
  [[nodiscard]] bool is_clamped(const SegmentCall& call);
  void prove_cover(const SegmentCall& call, const Body& body, const solver::Region& rows);
  void prove_alignment(const Body& body);
  void prove_alignment(const LoopStrategy& strategy, const VectorLoop& loop, const std::string& name, ir::DType dtype);

  StrategyLemmas& lemmas_;
  RunVariables run_;
  ir::Expr column_;
  std::string where_;  // names the segment under proof, for messages
};

}  // namespace padlock::compiler
