#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

// That the vectors of a grid (compiler/schedule/model/vector_grid.h) have every element of the output once and nothing
// else, that they lie at multiples of their size, and that the granules loaded for them lie in their tensors. (That an
// element's number and its row and column are one to one is the trusted lemma of flattening. The parts of a vector are
// runs of segments, proved as those.)
namespace padlock::compiler {

/// Proves the obligations of a schedule's grid.
void prove_grid(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
