#include "compiler/prove_program.h"

#include <utility>

#include "compiler/lowering.h"

namespace padlock::compiler {

Result<std::vector<ProvenKernel>> prove_kernels(const ir::Program& program, Mutation mutation,
                                                const ScheduleMaker& schedule, ProofCache& cache) {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, mutation));
  std::vector<ProvenKernel> proven;
  for (Kernel& kernel : kernels) {
    PADLOCK_TRY(ProvenKernel made, prove(schedule(std::move(kernel)), {.cache = &cache}));
    proven.push_back(std::move(made));
  }
  return proven;
}

Result<std::vector<Proof>> list_proofs(const ir::Program& program, Mutation mutation, const ScheduleMaker& schedule,
                                       ProofCache& cache) {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, mutation));
  std::vector<Proof> proofs;
  for (Kernel& kernel : kernels) {
    PADLOCK_TRY(Proof proof, list_obligations(schedule(std::move(kernel)), {.explain = true, .cache = &cache}));
    proofs.push_back(std::move(proof));
  }
  return proofs;
}

}  // namespace padlock::compiler
