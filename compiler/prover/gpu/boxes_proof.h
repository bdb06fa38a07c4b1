#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves the boxes of a schedule (compiler/schedule/model/boxes.h) for all steps that a launch may have. Boxes cover
/// each row once. Every element that a box loads lies in its stages; stages lie in their tensors and in the launch's
/// shared memory. The vectors of a box hold each of its elements once.
void prove_boxes(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
