#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves of the transpose tile of a schedule that its positions and words are of a shape that tests go through
/// (compiler/schedule/model/tiles.h), and all that rests on sizes: that the tiles of a launch have each element
/// of the output once and nothing else, and of tiles by words that a run has all positions of a tile, and that the
/// words around misaligned ones lie in the tensor.
void prove_tile(ProofSession& session, const Schedule& schedule, const TransposeTile& tile, Proof& proof);

}  // namespace padlock::compiler
