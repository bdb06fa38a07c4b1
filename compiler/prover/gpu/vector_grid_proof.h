#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

// Proves that the vectors of a grid (compiler/schedule/model/vector_grid.h) hold every output element once and nothing
// else. Proves that they lie at multiples of their size, and that their granules lie in the tensors. (The bijection
// between an element's number and its row and column is the trusted lemma of flattening. Parts of a vector are runs of
// segments, and proved as runs.)
namespace padlock::compiler {

/// Proves the obligations of a schedule's grid.
void prove_grid(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
