#pragma once

#include <vector>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

// That the transpose tiles of a schedule (compiler/schedule/gpu/tiles.h) have every element of the output once and
// nothing else; that each element of shared memory holds one position of the tile, inside its array; and that every
// position that is stored after the barrier was loaded before it. (That a tile's number and its digits are one to one
// is the trusted lemma of flattening. What is loaded for a position is a segment's load at one column, proved as
// those.)
namespace padlock::compiler {

/// Proves the obligations of a transpose tile of the session's schedule.
[[nodiscard]] std::vector<Obligation> prove_tile(ProofSession& session, const TransposeTile& tile);

}  // namespace padlock::compiler
