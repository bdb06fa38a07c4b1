#pragma once

#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves of the transpose tile of a schedule what its code by words rests on: that a run has all positions of a tile,
/// so that what is proved of its segment's loads holds for them; that squares and stored words have each position once,
/// and find it where shared memory has it; and that what is loaded around misaligned words lies in the tensor.
[[nodiscard]] std::vector<Obligation> prove_tile_words(ProofSession& session, const Schedule& schedule,
                                                       const TransposeTile& tile);

}  // namespace padlock::compiler
