#include "compiler/pipeline.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/kernel/lowering.h"
#include "compiler/kernel/merge_axes.h"
#include "compiler/schedule/choose_strategies.h"
#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/index/index32_variant.h"
#include "compiler/schedule/index/index64_bounds.h"
#include "compiler/schedule/permuted/permute_rows.h"
#include "compiler/schedule/segments.h"
#include "support/limits.h"
#include "support/steps.h"

namespace padlock::compiler {
namespace {

/// Lowers a program, and lists what is made of each of its kernels: of a kernel that is scheduled, within those limits.
/// All of them take `budget` steps together.
template <class Made, class Make>
Result<std::vector<Made>> of_each_kernel(const ir::Program& program, const PassEdits* edits,
                                         const ScheduleMaker& schedule, std::int64_t budget, const Make& make) {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, edits));
  const StepBudget steps(budget);
  std::vector<Made> list;
  std::size_t operations = 0;
  for (Kernel& kernel : kernels) {
    if (steps.is_used_up())
      return beyond_limits(
          fmt::format("expected kernels that are scheduled and proved within {} steps, found more", steps.limit()));
    Schedule scheduled = schedule(std::move(kernel));
    operations += scheduled.index_operations;
    if (operations > limits::kIndexOperations)
      return beyond_limits(fmt::format("expected at most {} operations on indices in the code of a program, found more",
                                       limits::kIndexOperations));
    PADLOCK_TRY(Made made, make(std::move(scheduled), {.steps = std::min(limits::kProofSteps, steps.left())}));
    list.push_back(std::move(made));
  }
  return list;
}

}  // namespace

// Once a program:

Result<std::vector<Kernel>> lower(const ir::Program& program, const PassEdits* edits, PassCounts* counts) {
  if (counts != nullptr) ++counts->lowered;
  MakeIndexMaps make_maps;
  if (edits != nullptr)
    make_maps = [edits](ir::ExprContext& exprs, ir::Facts facts) { return edits->index_maps(exprs, std::move(facts)); };
  PADLOCK_TRY(std::vector<Kernel> kernels, gather_kernels(program, make_maps));  // what is each element of the output?
  const StepBudget steps(limits::kMergeSteps);
  for (Kernel& kernel : kernels) {
    if (edits != nullptr) edits->gathered(kernel);
    merge_axes(kernel, steps);  // long rows of short ones
  }
  return kernels;
}

// Once a config and kernel:

Schedule make_schedule(Kernel kernel, std::string config, const ScheduleOptions& options) {
  const PassEdits none;
  const PassEdits& edits = options.edits != nullptr ? *options.edits : none;
  std::vector<RowCase> cases =  // of rows, and segments of their columns, without predicates inside
      split_rows(kernel, {.split = options.split});
  edits.split(kernel, cases);
  Schedule schedule = begin_schedule(std::move(kernel), std::move(config), options);  // what a launch covers
  make_bodies(schedule, cases);                                                       // straight-line code and loads
  choose_walks(schedule, options);                                                    // vectors, and loops over a run
  set_row_steps(schedule);                                                            // host: from row to row
  permute_rows(schedule, cases, options);                                             // host: short rows together
  edits.walked(schedule);
  // Gathered once for all that is chosen by it. (The prover gathers anew: from what is emitted.)
  const std::vector<ExactIndices> places = exact_indices(schedule);
  schedule.index_operations = count_index_operations(places, limits::kIndexOperations);
  if (schedule.index_operations <= limits::kIndexOperations) {          // else refused before any proof
    schedule.index64_bounds = choose_index64_bounds(schedule, places);  // what indices of 64 bits may need
    schedule.index32 = choose_index32_variant(schedule, places);        // indices of 32 bits
  }
  edits.scheduled(schedule);
  return schedule;
}

// Then every access is proved, guarded or listed to be checked. The rest of the way is the target's, in llvm/:
// emit_host_kernel or emit_gpu_kernel, simplify, generate_code, and on the host link_image.

Result<std::vector<ProvenKernel>> prove_kernels(const ir::Program& program, const PassEdits* edits,
                                                const ScheduleMaker& schedule, ProofCache& cache) {
  const auto make = [&](Schedule scheduled, const solver::SearchLimits& limits) {
    return prove(std::move(scheduled), {.limits = limits, .cache = &cache, .keep = edits == nullptr});
  };
  return of_each_kernel<ProvenKernel>(program, edits, schedule, limits::kProofSteps, make);
}

Result<std::vector<Proof>> list_proofs(const ir::Program& program, const PassEdits* edits,
                                       const ScheduleMaker& schedule, ProofCache& cache) {
  const auto make = [&](Schedule scheduled, const solver::SearchLimits& limits) {
    return list_obligations(std::move(scheduled),
                            {.limits = limits, .explain = true, .cache = &cache, .keep = edits == nullptr});
  };
  return of_each_kernel<Proof>(program, edits, schedule, limits::kProofSteps + limits::kExplainSteps, make);
}

Result<std::string> kernel_text(const ir::Program& program, const PassEdits* edits) {
  return schedule_text(program, edits, {});
}

Result<std::string> schedule_text(const ir::Program& program, const PassEdits* edits, const ScheduleMaker& schedule) {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, edits));
  std::string text;
  for (Kernel& kernel : kernels) text += schedule ? to_string(schedule(std::move(kernel))) : to_string(kernel);
  return text;
}

}  // namespace padlock::compiler
