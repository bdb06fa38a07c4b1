#pragma once

#include <memory>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves that the loads of a schedule's segments lie in their tensors: each coordinate in its extent, and the view in
/// the tensor's storage. Proves that the code starts and steps at the offsets of these coordinates. Conditions on sizes
/// of `guarded` loads go to Proof::in_range.
class LoadProver {
 public:
  /// Borrows all. Adds obligations to `proof`.
  LoadProver(ProofSession& session, const Schedule& schedule, Proof& proof);
  ~LoadProver();

  /// Sets the case whose rows the following calls are about.
  void enter_case(const solver::Region& rows);
  /// Adds an obligation for each load of the segment. `inside`: every lane stays in its run.
  void prove(const SegmentCall& call, bool inside);
  /// Proves the loads of the rows' data, in the case entered last.
  void prove_row_data(const SegmentCall& call);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace padlock::compiler
