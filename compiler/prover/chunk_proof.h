#pragma once

#include <cstddef>
#include <vector>

#include "compiler/prover/proof_session.h"
#include "compiler/schedule/schedule.h"

namespace padlock::compiler {

/// Proves the permuted rows of a case: each chunk and its windows lie where its loop says, and lanes get the elements
/// that the kernel's map names, in all chunks alike. What is undecided of it withdraws it: all is dead then. `rows`:
/// the region of the case's rows.
[[nodiscard]] std::vector<Obligation> prove_permuted_rows(ProofSession& session, const Schedule& schedule,
                                                          std::size_t row_case, const solver::Region& rows);

}  // namespace padlock::compiler
