#pragma once

#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

// Proves that a launch computes what the program says there is: as many rows and columns as the results have, as many
// elements after a reshape as before, and no extent below 0. (Flattening rows is a bijection: docs/proofs.md.)
namespace padlock::compiler {

/// Adds the obligations of the results' extents to a proof.
void prove_extents(ProofSession& session, const Schedule& schedule, Proof& proof);
/// Adds those of the launch.
void prove_launch(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
