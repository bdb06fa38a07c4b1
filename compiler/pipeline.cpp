#include "compiler/pipeline.h"

#include <utility>

#include "compiler/choose_walks.h"
#include "compiler/lowering.h"
#include "compiler/merge_axes.h"
#include "compiler/narrowing.h"
#include "compiler/segments.h"

namespace padlock::compiler {

// Once a program:

Result<std::vector<Kernel>> lower(const ir::Program& program, Mutation mutation, PassCounts* counts) {
  if (counts != nullptr) ++counts->lowered;
  PADLOCK_TRY(std::vector<Kernel> kernels, gather_kernels(program, mutation));  // what is each element of the output?
  for (Kernel& kernel : kernels) merge_axes(kernel, mutation);                  // long rows of short ones
  return kernels;
}

// Once a config and kernel:

Schedule make_schedule(Kernel kernel, std::string config, const ScheduleOptions& options) {
  const std::vector<RowCase> cases =  // of rows, and segments of their columns, without predicates inside
      split_rows(kernel, {.split = options.split, .mutation = options.mutation});
  Schedule schedule = begin_schedule(std::move(kernel), std::move(config), options);  // what a launch covers
  make_bodies(schedule, cases);                                                       // straight-line code and loads
  choose_walks(schedule, options);                                                    // vectors, and loops over a run
  set_row_steps(schedule);                                                            // host: from row to row
  schedule.narrowing = narrowing_of(schedule);                                        // indices of 32 bits
  return schedule;
}

// Then every access is proved, guarded or listed to be checked. The rest of the way is the target's, in llvm/:
// emit_host_kernel or emit_gpu_kernel, simplify, generate_code, and on the host link_image.

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

Result<std::string> kernel_text(const ir::Program& program, Mutation mutation) {
  PADLOCK_TRY(const std::vector<Kernel> kernels, lower(program, mutation));
  std::string text;
  for (const Kernel& kernel : kernels) text += to_string(kernel);
  return text;
}

Result<std::string> schedule_text(const ir::Program& program, Mutation mutation, const ScheduleMaker& schedule) {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, mutation));
  std::string text;
  for (Kernel& kernel : kernels) text += to_string(schedule(std::move(kernel)));
  return text;
}

}  // namespace padlock::compiler
