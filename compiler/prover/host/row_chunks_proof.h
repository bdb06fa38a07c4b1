#pragma once

#include <cstddef>

#include "compiler/prover/core/proof_session.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Proves the row chunks of a case: each chunk and its windows lie where its loop says, and lanes get the elements
/// that the kernel's map names, in all chunks alike. What is undecided of it withdraws it: all is dead then. `rows`:
/// the region of the case's rows.
void prove_row_chunks(ProofSession& session, const Schedule& schedule, std::size_t row_case, const solver::Region& rows,
                      Proof& proof);

}  // namespace padlock::compiler
