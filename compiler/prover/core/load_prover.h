#pragma once

#include <memory>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Shows that what the segments of a schedule load lies in its tensors: each coordinate in its extent, the view in the
/// tensor's storage, and that the code starts and steps at the offsets of these coordinates. Loads that are `guarded`
/// have their conditions on sizes in Proof::in_range.
class LoadProver {
 public:
  /// Borrows all. Adds obligations to `proof`.
  LoadProver(ProofSession& session, const Schedule& schedule, Proof& proof);
  ~LoadProver();

  /// From here on rows of this case.
  void enter_case(const solver::Region& rows);
  /// Adds an obligation for each load of the segment. `inside`: no lane leaves its run.
  void prove(const SegmentCall& call, bool inside);
  /// Proves the loads of the data of rows, in the rows entered last.
  void prove_row_data(const SegmentCall& call);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace padlock::compiler
