#pragma once

#include <utility>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// What the parts of a schedule's proof share: the session that they ask, the schedule, and the proof that they add to.
class ScheduleProof {
 public:
  /// Borrows all.
  ScheduleProof(ProofSession& session, const Schedule& schedule, Proof& proof)
      : session_(session), schedule_(schedule), kernel_(schedule.kernel), exprs_(session.exprs()), proof_(proof) {}

 protected:
  ~ScheduleProof() = default;

  void record(Obligation obligation) { proof_.obligations.push_back(std::move(obligation)); }
  [[nodiscard]] const ir::Value& result(std::size_t i) const { return kernel_.program->value(kernel_.results[i]); }

  ProofSession& session_;
  const Schedule& schedule_;
  const Kernel& kernel_;
  ir::ExprContext& exprs_;
  Proof& proof_;
};

}  // namespace padlock::compiler
