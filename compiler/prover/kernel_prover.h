#pragma once

#include "compiler/prover/core/proven_kernel.h"
#include "compiler/schedule/model/schedule.h"
#include "support/error.h"

namespace padlock::compiler {

/// Proves a schedule. Errors: failed_precondition where an obligation is refuted, with its counter-example, or where
/// the program admits no sizes at all; resource_exhausted where cover, disjoint or width is not decided within the
/// limits.
[[nodiscard]] Result<ProvenKernel> prove(Schedule schedule, const ProverOptions& options = {});
/// All obligations with their verdicts, refuted ones too. Error: failed_precondition where the program admits no sizes.
[[nodiscard]] Result<Proof> list_obligations(Schedule schedule, const ProverOptions& options = {});

}  // namespace padlock::compiler
