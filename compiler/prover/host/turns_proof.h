#pragma once

#include "compiler/prover/core/loop_proof.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves the boxes of all bodies. They lie in the rows and columns of their run and cover both. A block holds elements
/// of neighbouring rows, and shuffles give each lane of each row its column's element.
void prove_turns(ProofSession& session, StrategyLemmas& lemmas, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
