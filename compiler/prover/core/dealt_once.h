#pragma once

#include "compiler/prover/core/proof_session.h"

namespace padlock::compiler {

/// Proves that a cyclic distribution, item k to thread k mod count, gives each item to exactly one thread.
[[nodiscard]] bool is_dealt_once(ProofSession& session, int count);

}  // namespace padlock::compiler
