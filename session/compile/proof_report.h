#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/prover/core/proof.h"

// Reports proofs, for people and for programs.
namespace padlock::session {

/// Counts a verdict over all obligations.
[[nodiscard]] std::int64_t count(std::span<const compiler::Proof> proofs, compiler::Verdict verdict);

/// Lists each kernel and config with one line per obligation, and the totals.
[[nodiscard]] std::string to_text(std::span<const compiler::Proof> proofs);
/// Writes the same as one JSON object ("schema": 1).
[[nodiscard]] std::string to_json(std::span<const compiler::Proof> proofs);

}  // namespace padlock::session
