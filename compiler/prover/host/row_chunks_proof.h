#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves a schedule's row chunks, if it has any: each chunk and its windows lie where its loop says, and lanes get the
/// elements that the kernel's map names, in all chunks alike. What is undecided of it withdraws them: all is dead then.
void prove_row_chunks(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
