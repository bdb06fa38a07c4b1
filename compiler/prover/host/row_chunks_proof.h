#pragma once

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves a schedule's row chunks, if any. Each chunk and its windows lie where its loop says. In all chunks alike,
/// lanes get the elements that the kernel's map names. An undecided obligation withdraws the chunks: all their
/// obligations are then dead.
void prove_row_chunks(ProofSession& session, const Schedule& schedule, Proof& proof);

}  // namespace padlock::compiler
