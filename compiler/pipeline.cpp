#include "compiler/pipeline.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
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

/// Makes something of the schedules of kernels, within the limits that all of them have together.
template <class Make>
class ScheduledKernels {
 public:
  /// `budget`: steps that all take together.
  ScheduledKernels(const ScheduleMaker& schedules, std::int64_t budget, const Make& make)
      : schedules_(schedules), steps_(budget), make_(make) {}

  using Made = typename std::invoke_result_t<Make, Schedule, const solver::SearchLimits&>::value_type;

  /// Lists what is made of a kernel's schedules. What serves some sizes alone is worth no refusal.
  Result<std::vector<Made>> of(Kernel kernel) {
    std::vector<Made> list;
    for (Schedule& schedule : schedules_(std::move(kernel))) {
      Result<Made> made = of(std::move(schedule));
      if (!made && !list.empty() && made.error().code == Code::resource_exhausted) break;
      if (!made) return std::unexpected(std::move(made).error());
      list.push_back(*std::move(made));
    }
    return list;
  }

 private:
  Result<Made> of(Schedule schedule) {
    if (steps_.is_used_up())
      return beyond_limits(
          fmt::format("expected kernels that are scheduled and proved within {} steps, found more", steps_.limit()));
    if (operations_ + schedule.index_operations > limits::kIndexOperations)
      return beyond_limits(fmt::format("expected at most {} operations on indices in the code of a program, found more",
                                       limits::kIndexOperations));
    operations_ += schedule.index_operations;
    return make_(std::move(schedule), {.steps = std::min(limits::kProofSteps, steps_.left())});
  }

  const ScheduleMaker& schedules_;
  const StepBudget steps_;
  const Make& make_;
  std::size_t operations_ = 0;
};

/// Lowers a program, and lists what is made of each of its kernels.
template <class Make>
auto of_each_kernel(const ir::Program& program, const PassEdits* edits, const ScheduleMaker& schedules,
                    std::int64_t budget, const Make& make)
    -> Result<std::vector<std::vector<typename ScheduledKernels<Make>::Made>>> {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, edits));
  ScheduledKernels scheduled(schedules, budget, make);
  std::vector<std::vector<typename ScheduledKernels<Make>::Made>> list;
  for (Kernel& kernel : kernels) {
    PADLOCK_TRY(auto made, scheduled.of(std::move(kernel)));
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

Result<std::vector<std::vector<ProvenKernel>>> prove_kernels(const ir::Program& program, const PassEdits* edits,
                                                             const ScheduleMaker& schedules, ProofCache& cache) {
  const auto make = [&](Schedule scheduled, const solver::SearchLimits& limits) {
    return prove(std::move(scheduled), {.limits = limits, .cache = &cache, .keep = edits == nullptr});
  };
  return of_each_kernel(program, edits, schedules, limits::kProofSteps, make);
}

Result<std::vector<Proof>> list_proofs(const ir::Program& program, const PassEdits* edits,
                                       const ScheduleMaker& schedules, ProofCache& cache) {
  const auto make = [&](Schedule scheduled, const solver::SearchLimits& limits) {
    return list_obligations(std::move(scheduled),
                            {.limits = limits, .explain = true, .cache = &cache, .keep = edits == nullptr});
  };
  PADLOCK_TRY(std::vector<std::vector<Proof>> proofs,
              of_each_kernel(program, edits, schedules, limits::kProofSteps + limits::kExplainSteps, make));
  std::vector<Proof> list;
  for (std::vector<Proof>& own : proofs) std::ranges::move(own, std::back_inserter(list));
  return list;
}

Result<std::string> kernel_text(const ir::Program& program, const PassEdits* edits) {
  PADLOCK_TRY(const std::vector<Kernel> kernels, lower(program, edits));
  std::string text;
  for (const Kernel& kernel : kernels) text += to_string(kernel);
  return text;
}

Result<std::string> schedule_text(const ir::Program& program, const PassEdits* edits, const ScheduleMaker& schedules) {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, edits));
  std::string text;
  for (Kernel& kernel : kernels)
    for (const Schedule& schedule : schedules(std::move(kernel))) text += to_string(schedule);
  return text;
}

}  // namespace padlock::compiler
