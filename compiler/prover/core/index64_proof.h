#pragma once

#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Adds the obligations that indices fit 64 bits to a proof, and the bounds of sizes that they need.
void prove_indices64(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
