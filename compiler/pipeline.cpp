#include "compiler/pipeline.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "compiler/kernel/lowering.h"
#include "compiler/schedule/cases/segments.h"
#include "compiler/schedule/choose_cover.h"
#include "compiler/schedule/index/exact_indices.h"
#include "compiler/schedule/index/index32_variant.h"
#include "compiler/schedule/index/index64_bounds.h"
#include "support/limits.h"
#include "support/steps.h"

namespace padlock::compiler {
namespace {

/// Lowers a program, and lists what `make` returns for the schedules of each kernel. All schedules share the limits.
/// Schedules for some sizes come last, within what is left of the limits; one that does not fit is no error.
template <class Made, class Make>
Result<std::vector<std::vector<Made>>> of_each_kernel(const ir::Program& program, const PassEdits* edits,
                                                      const ScheduleMaker& schedules, std::int64_t budget, PassLog* log,
                                                      const Make& make) {
  PADLOCK_TRY(std::vector<Kernel> kernels, lower(program, edits, nullptr, log));
  const StepBudget steps(budget);
  std::size_t operations = 0;
  const auto made_of = [&](Schedule schedule) -> Result<Made> {
    if (steps.is_used_up())
      return beyond_limits(
          fmt::format("expected kernels that are scheduled and proved within {} steps, found more", steps.limit()));
    if (operations + schedule.index_operations > limits::kIndexOperations)
      return beyond_limits(fmt::format("expected at most {} operations on indices in the code of a program, found more",
                                       limits::kIndexOperations));
    operations += schedule.index_operations;
    const PassTimer timer(log, "prove");
    return make(std::move(schedule), {.steps = std::min(limits::kProofSteps, steps.left())});
  };
  std::vector<std::vector<Made>> list;
  std::vector<std::pair<std::size_t, Schedule>> others;  // with the index of the kernel
  for (Kernel& kernel : kernels) {
    std::vector<Schedule> own = schedules(std::move(kernel));
    for (std::size_t i = 1; i < own.size(); ++i) others.emplace_back(list.size(), std::move(own[i]));
    PADLOCK_TRY(Made made, made_of(std::move(own.front())));
    list.emplace_back().push_back(std::move(made));
  }
  for (auto& [kernel, schedule] : others) {
    Result<Made> made = made_of(std::move(schedule));
    if (made)
      list[kernel].push_back(*std::move(made));
    else if (made.error().code != Code::resource_exhausted)
      return std::unexpected(std::move(made).error());
  }
  return list;
}

}  // namespace

// Once for each program:

Result<std::vector<Kernel>> lower(const ir::Program& program, const PassEdits* edits, PassCounts* counts,
                                  PassLog* log) {
  const PassTimer timer(log, "lower");
  if (counts != nullptr) ++counts->lowered;
  MakeIndexMaps make_maps;
  if (edits != nullptr)
    make_maps = [edits](ir::ExprContext& exprs, ir::Facts facts) { return edits->index_maps(exprs, std::move(facts)); };
  PADLOCK_TRY(std::vector<Kernel> kernels, gather_kernels(program, make_maps));  // gather form: the value at each
                                                                                 // coordinate of the output
  const StepBudget steps(limits::kMergeSteps);
  for (Kernel& kernel : kernels) {
    if (edits != nullptr) edits->gathered(kernel);
    merge_axes(kernel, steps);  // makes short rows long
    find_row_data(kernel);      // data that is the same in all columns of a row
  }
  return kernels;
}

// Once for each config and kernel:

Schedule make_schedule(Kernel kernel, std::string config, const ScheduleOptions& options) {
  const PassEdits none;
  const PassEdits& edits = options.edits != nullptr ? *options.edits : none;
  PassTimer timer(options.log, "split");
  std::vector<RowCase> cases =  // cases of rows, and segments of columns without predicates
      options.blocks && options.blocks->takes_whole_rows() ? whole_rows(kernel)
                                                           : split_rows(kernel, {.split = options.split});
  edits.split(kernel, cases);
  timer.next("bodies");
  Schedule schedule = begin_schedule(std::move(kernel), std::move(config), options);  // extents of a launch
  make_bodies(schedule, cases);                                                       // straight-line code and loads
  timer.next("cover");
  if (!choose_cover(schedule, options)) return schedule;  // who makes which elements, in which loops
  edits.covered(schedule);
  timer.next("indices");
  // Gathered once for all choices below. The prover gathers again, from what is emitted.
  const std::vector<ExactIndices> places = exact_indices(schedule);
  schedule.index_operations = count_index_operations(places, limits::kIndexOperations);
  if (schedule.index_operations <= limits::kIndexOperations) {          // a program beyond is refused before any proof
    schedule.index64_bounds = choose_index64_bounds(schedule, places);  // bounds that 64-bit indices may need
    schedule.index32 = choose_index32_variant(schedule);                // a GPU's variant with 32-bit indices
  }
  edits.scheduled(schedule);
  return schedule;
}

// The prover then proves, guards or lists for checking every access. The target does the rest, in llvm/:
// emit_host_kernel or emit_gpu_kernel, simplify, generate_code, and on the host link_image.

Result<std::vector<std::vector<ProvenKernel>>> prove_kernels(const ir::Program& program, const PassEdits* edits,
                                                             const ScheduleMaker& schedules, ProofCache& cache,
                                                             PassLog* log) {
  const auto make = [&](Schedule scheduled, const solver::SearchLimits& limits) {
    return prove(std::move(scheduled), {.limits = limits, .cache = &cache, .keep = edits == nullptr});
  };
  return of_each_kernel<ProvenKernel>(program, edits, schedules, limits::kProofSteps, log, make);
}

Result<std::vector<Proof>> list_proofs(const ir::Program& program, const PassEdits* edits,
                                       const ScheduleMaker& schedules, ProofCache& cache, PassLog* log) {
  const auto make = [&](Schedule scheduled, const solver::SearchLimits& limits) {
    return list_obligations(std::move(scheduled),
                            {.limits = limits, .explain = true, .cache = &cache, .keep = edits == nullptr});
  };
  PADLOCK_TRY(std::vector<std::vector<Proof>> proofs,
              of_each_kernel<Proof>(program, edits, schedules, limits::kProofSteps + limits::kExplainSteps, log, make));
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
