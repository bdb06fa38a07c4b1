#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves of the boxes of a schedule (compiler/schedule/model/boxes.h), for all steps that a launch may have: that they
/// have each row once, that every element which a box loads lies in its stages, that these lie in their tensors and in
/// the memory that the launch asks for, and that the vectors of a box have each of its elements once.
void prove_boxes(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
