#include "runtime/host/launch.h"

#include <cassert>
#include <cstddef>

#include <fmt/format.h>

#include "support/stack_array.h"

namespace padlock::runtime {

Result<KernelLauncher> KernelLauncher::create(std::vector<HostVariant> variants, const ir::Program& program) {
  if (variants.empty()) return internal_error("a kernel has no variant");
  const abi::KernelAbi& any = variants.front().abi;
  std::vector<const abi::KernelAbi*> contracts;
  for (const HostVariant& variant : variants) {
    PADLOCK_CHECK(check_same_arguments(any, variant.abi));
    contracts.push_back(&variant.abi);
  }
  PADLOCK_TRY(ArgumentPlaces places, ArgumentPlaces::of(any, program));
  abi::LaunchPlanner planner(program, contracts);
  return KernelLauncher(std::move(variants), std::move(places), std::move(planner));
}

Result<BoundKernel> KernelLauncher::bind(const ir::Binding& binding, std::int64_t task_bytes, int threads) const {
  BoundKernel bound;
  bound.launcher_ = this;
  PADLOCK_TRY(bound.plan_, planner_.plan(binding));
  const abi::LaunchPlan& plan = bound.plan_;
  bound.variant_ = &variants_[plan.variant];
  bound.entry_ = bound.variant_->entry;
  bound.task_bytes_ = shared_task_bytes(plan.rows * plan.row_bytes, task_bytes, threads);
  bound.grid_ = TaskGrid::split(plan.rows, plan.columns, plan.row_bytes, bound.task_bytes_);
  for (const abi::LaunchPart& part : plan.parts)
    bound.offsets_.push_back(buffer_offsets(part, bound.abi(), binding.program()));
  PADLOCK_CHECK(bound.make_plan());
  return bound;
}

Status BoundKernel::make_plan() {
  if (variant_->planner == nullptr || plan_.shared_bytes == 0) return {};
  const auto bytes = static_cast<std::size_t>(plan_.shared_bytes);
  const std::size_t whole = (bytes + abi::kPlanAlignment - 1) / abi::kPlanAlignment * abi::kPlanAlignment;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(abi::kPlanAlignment, whole)));
  if (memory_ == nullptr) return resource_exhausted(fmt::format("no memory for a plan of {} bytes", bytes));
  const abi::HostLaunch launch{.sizes = plan_.sizes.data(), .plan = memory_.get()};
  variant_->planner(&launch);
  return {};
}

Status BoundKernel::run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                        std::span<const std::uint64_t> scalars, const ParallelFor& pool) const {
  if (grid_.count() == 0) return {};
  StackArray<void*> buffers(launcher_->places_.inputs.size() + launcher_->places_.results.size());
  std::size_t at = 0;
  for (const std::uint32_t place : launcher_->places_.inputs) buffers[at++] = inputs[place].data();
  for (const std::uint32_t place : launcher_->places_.results) buffers[at++] = outputs[place].data();
  StackArray<std::uint64_t> bits(launcher_->places_.scalars.size());
  for (std::size_t i = 0; i < launcher_->places_.scalars.size(); ++i) bits[i] = scalars[launcher_->places_.scalars[i]];

  abi::AccessFault fault;
  const abi::HostLaunch launch{.buffers = buffers.data(),
                               .sizes = plan_.sizes.data(),
                               .scalars = bits.data(),
                               .fault = &fault,
                               .plan = memory_.get()};
  if (plan_.parts.empty()) {
    run(launch, plan_.rows, grid_, pool);
  } else {
    run_parts(launch, buffers.span(), pool);
  }
  return check_fault(fault, abi());
}

void BoundKernel::run_parts(abi::HostLaunch launch, std::span<void* const> buffers, const ParallelFor& pool) const {
  StackArray<void*> moved(buffers.size());
  launch.buffers = moved.data();
  for (std::size_t i = 0; i < plan_.parts.size(); ++i) {
    const abi::LaunchPart& part = plan_.parts[i];
    for (std::size_t b = 0; b < buffers.size(); ++b) moved[b] = static_cast<std::byte*>(buffers[b]) + offsets_[i][b];
    launch.sizes = part.sizes.data();
    run(launch, part.rows, TaskGrid::split(part.rows, plan_.columns, plan_.row_bytes, task_bytes_), pool);
  }
}

void BoundKernel::run(const abi::HostLaunch& launch, std::int64_t rows, const TaskGrid& grid,
                      const ParallelFor& pool) const {
  if (grid.count() == 1) {  // one task: skip the grid
    entry_(&launch, 0, rows, 0, plan_.columns);
    return;
  }
  struct Job {
    abi::HostEntry entry;
    const abi::HostLaunch* launch;
    const TaskGrid* grid;
    TaskTally tally = {};
  } job{.entry = entry_, .launch = &launch, .grid = &grid};
  const ParallelBody body = [](void* state, std::int64_t index) {
    Job& self = *static_cast<Job*>(state);
    const TaskGrid::Task task = self.grid->task(index);
    assert((self.tally.add(*self.grid, index), true));
    self.entry(self.launch, task.row_first, task.row_last, task.column_first, task.column_last);
  };
  if (pool.run == nullptr) {
    for (std::int64_t i = 0; i < grid.count(); ++i) body(&job, i);
  } else {
    pool.run(pool.user, grid.count(), body, &job);
  }
  assert(job.tally.is_complete(grid));
}

}  // namespace padlock::runtime
