#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves the transpose tile of a schedule. Its positions and words have a shape that tests cover
/// (compiler/schedule/model/tiles.h). Of what depends on sizes: the tiles of a launch hold each output element once and
/// nothing else. For tiles by words: a run holds all positions of a tile, and the words around misaligned ones lie in
/// the tensor.
void prove_tile(ProofSession& session, const Schedule& schedule, const TransposeTile& tile, Proof& proof);

}  // namespace padlock::compiler
