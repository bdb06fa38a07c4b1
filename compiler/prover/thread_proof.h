#pragma once

#include <vector>

#include "compiler/prover/proof_session.h"
#include "compiler/schedule/schedule.h"

// That the threads of a grid write every element of the output and nothing else, and none of them one that another
// writes: how tiles share out rows and columns, teams the rows of a tile, and threads the chunks of a run. (That a
// tile's number and its row and column of tiles, or an element's number and its coordinates, are one to one is the
// trusted lemma of flattening.)
namespace padlock::compiler {

/// The obligations of a schedule's thread map, besides those of its runs.
[[nodiscard]] std::vector<Obligation> prove_tiles(ProofSession& session, const Schedule& schedule);

/// Whether every team has as many threads as the loops of its runs deal their chunks to, and there is a team for each
/// of those that rows are dealt to, and no other.
[[nodiscard]] bool teams_are_whole(const Schedule& schedule);

/// Things that are dealt in turn, number k to member k mod count: each is one member's.
[[nodiscard]] bool is_dealt_once(ProofSession& session, int count);

}  // namespace padlock::compiler
