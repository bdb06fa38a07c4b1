#pragma once

#include "compiler/prover/core/loop_proof.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves the boxes of all bodies: they lie in the rows and columns of their run and cover both, a block holds elements
/// of neighbouring rows, and shuffles give each lane of each row the element of its column.
void prove_turns(ProofSession& session, StrategyLemmas& lemmas, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
