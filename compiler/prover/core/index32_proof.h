#pragma once

#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Adds the obligations of the schedule's 32-bit arithmetic, if it has any, to a proof.
void prove_indices32(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
