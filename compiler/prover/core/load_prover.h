#pragma once

#include <memory>
#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Shows that what the segments of a schedule load lies in its tensors: each coordinate in its extent, the view in the
/// tensor's storage, and that the code starts and steps at the offsets of these coordinates.
class LoadProver {
 public:
  /// Borrows both.
  LoadProver(ProofSession& session, const Schedule& schedule);
  ~LoadProver();

  /// From here on rows of this case.
  void enter_case(const solver::Region& rows);
  /// One obligation for each load of the segment. `inside`: no lane leaves its run.
  [[nodiscard]] std::vector<Obligation> prove(const SegmentCall& call, bool inside);
  /// Returns the conditions on sizes under which all loads that are `guarded` lie in their tensors.
  [[nodiscard]] std::vector<ir::Constraint> take_guards();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace padlock::compiler
