#pragma once

#include <functional>
#include <vector>

#include "compiler/kernel.h"
#include "compiler/mutation.h"
#include "compiler/prover/proven_kernel.h"
#include "compiler/schedule.h"
#include "ir/program.h"
#include "support/error.h"

// From a program to what a target may emit: the same steps for every target, but for the schedule.
namespace padlock::compiler {

using ScheduleMaker = std::function<Schedule(Kernel)>;

/// The program's kernels, lowered, scheduled and proved. Errors as `lower` and `prove`.
[[nodiscard]] Result<std::vector<ProvenKernel>> prove_kernels(const ir::Program& program, Mutation mutation,
                                                              const ScheduleMaker& schedule, ProofCache& cache);
/// Their obligations with their verdicts, refuted ones too. Errors as `lower` and `list_obligations`.
[[nodiscard]] Result<std::vector<Proof>> list_proofs(const ir::Program& program, Mutation mutation,
                                                     const ScheduleMaker& schedule, ProofCache& cache);

}  // namespace padlock::compiler
