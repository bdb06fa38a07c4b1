#pragma once

#include <vector>

#include "compiler/prover/proof_session.h"
#include "compiler/schedule/schedule.h"

// That the threads of a grid write every element of the output and nothing else, and none of them one that another
// writes: how tiles share out rows and columns, teams the rows of a tile, and threads the vectors of a run. (That a
// tile's number and its row and column of tiles, or an element's number and its coordinates, are one to one is the
// trusted lemma of flattening.)
namespace padlock::compiler {

/// Proves the obligations of a schedule's thread map, besides those of its runs.
[[nodiscard]] std::vector<Obligation> prove_tiles(ProofSession& session, const Schedule& schedule);

/// Returns whether every team has as many threads as the loops of its runs distribute their vectors to, and there are
/// as many teams as rows are distributed to.
[[nodiscard]] bool teams_are_whole(const Schedule& schedule);

/// Proves that a cyclic distribution, item k to member k mod count, gives each item to exactly one member.
[[nodiscard]] bool is_dealt_once(ProofSession& session, int count);

}  // namespace padlock::compiler
