#pragma once

#include "compiler/prover/core/loop_proof.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves the boxes of all bodies: they lie in the rows and the columns of their run and cover both, the elements of a
/// block are those of neighbouring rows, and shuffles put into each lane of each row the element of its column.
void prove_turns(ProofSession& session, StrategyLemmas& lemmas, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
