#include "runtime/launch.h"

#include <fmt/format.h>

#include "runtime/launch_array.h"

namespace padlock::runtime {
Result<KernelLauncher> KernelLauncher::create(const ir::HostExecutable& executable, const ir::Program& program) {
  KernelLauncher launcher;
  launcher.executable_ = &executable;
  const ir::KernelAbi& abi = executable.abi();
  PADLOCK_TRY(launcher.places_, ArgumentPlaces::of(abi, program));
  for (const ir::HostExecutable* variant = executable.specialised(); variant != nullptr;
       variant = variant->specialised())
    PADLOCK_CHECK(check_same_arguments(abi, variant->abi()));
  return launcher;
}

Result<BoundKernel> KernelLauncher::bind(const ir::Binding& binding, const ArgumentSizes& arguments,
                                         std::int64_t task_bytes) const {
  BoundKernel bound;
  bound.executable_ = executable_;
  bound.launcher_ = this;
  for (const ir::HostExecutable* variant = executable_->specialised(); variant != nullptr;
       variant = variant->specialised())
    if (ir::guards_hold(variant->abi(), binding)) bound.executable_ = variant;
  // Before evaluating: the strides of an empty tensor may exceed 64 bits, and nobody will use them.
  if (places_.writes_nothing(arguments)) return bound;
  PADLOCK_TRY(bound.plan_, ir::plan_launch(bound.abi(), binding));
  const ir::LaunchPlan& plan = bound.plan_;
  if (plan.rows < 0 || plan.columns < 0 || plan.row_bytes < 0)
    return internal_error(fmt::format("kernel {} has {} rows and {} columns of {} bytes a row", abi().name, plan.rows,
                                      plan.columns, plan.row_bytes));
  bound.grid_ = TaskGrid::split(plan.rows, plan.columns, plan.row_bytes, task_bytes);
  return bound;
}

Status BoundKernel::run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                        std::span<const std::uint64_t> scalars, const ParallelFor& pool) const {
  if (grid_.count() == 0) return {};
  LaunchArray<void*> buffers(launcher_->places_.inputs.size() + launcher_->places_.results.size());
  std::size_t at = 0;
  for (const std::uint32_t place : launcher_->places_.inputs) buffers[at++] = inputs[place].data();
  for (const std::uint32_t place : launcher_->places_.results) buffers[at++] = outputs[place].data();
  LaunchArray<std::uint64_t> bits(launcher_->places_.scalars.size());
  for (std::size_t i = 0; i < launcher_->places_.scalars.size(); ++i) bits[i] = scalars[launcher_->places_.scalars[i]];

  ir::AccessFault fault;
  const ir::HostLaunch launch{
      .buffers = buffers.data(), .sizes = plan_.sizes.data(), .scalars = bits.data(), .fault = &fault};
  struct Job {
    ir::HostEntry entry;
    const ir::HostLaunch* launch;
    const TaskGrid* grid;
  } job{executable_->entry(), &launch, &grid_};
  const ParallelBody body = [](void* state, std::int64_t index) {
    const Job& self = *static_cast<const Job*>(state);
    const TaskGrid::Task task = self.grid->task(index);
    self.entry(self.launch, task.row_first, task.row_last, task.column_first, task.column_last);
  };
  if (grid_.count() == 1 || pool.run == nullptr) {
    for (std::int64_t i = 0; i < grid_.count(); ++i) body(&job, i);
  } else {
    pool.run(pool.user, grid_.count(), body, &job);
  }
  return check_fault(fault, abi());
}

}  // namespace padlock::runtime
