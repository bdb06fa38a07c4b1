#pragma once

#include "compiler/prover/core/proven_kernel.h"
#include "compiler/schedule/model/schedule.h"
#include "support/error.h"

namespace padlock::compiler {

/// Proves a schedule. Errors: failed_precondition if an obligation is refuted, with its counter-example, or if the
/// program admits no sizes; resource_exhausted if cover, disjoint or width is undecided within the limits.
[[nodiscard]] Result<ProvenKernel> prove(Schedule schedule, const ProverOptions& options = {});
/// Lists all obligations with their verdicts, refuted ones too. Error: failed_precondition if the program admits no
/// sizes.
[[nodiscard]] Result<Proof> list_obligations(Schedule schedule, const ProverOptions& options = {});

}  // namespace padlock::compiler
