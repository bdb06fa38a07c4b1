#include "runtime/launch.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/launch_array.h"

namespace padlock::runtime {
namespace {

Result<std::uint32_t> place_of(ir::ValueId id, const std::vector<ir::ValueId>& list, const char* role,
                               const ir::KernelAbi& abi) {
  const auto found = std::find(list.begin(), list.end(), id);
  if (found == list.end())
    return internal_error(
        fmt::format("kernel {} names value {} as {}, which the program does not", abi.name, id, role));
  return static_cast<std::uint32_t>(found - list.begin());
}

Status places(std::span<const ir::ValueId> ids, const std::vector<ir::ValueId>& list, const char* role,
              const ir::KernelAbi& abi, std::vector<std::uint32_t>& out) {
  for (const ir::ValueId id : ids) {
    PADLOCK_TRY(const std::uint32_t place, place_of(id, list, role, abi));
    out.push_back(place);
  }
  return {};
}

Status report(const ir::AccessFault& fault, const ir::KernelAbi& abi) {
  if (fault.claimed == 0) return {};
  const auto index = static_cast<std::uint64_t>(fault.access);
  const std::string access = index < abi.accesses.size() ? abi.accesses[index] : fmt::format("access {}", fault.access);
  return internal_error(fmt::format("kernel {}: {} is out of bounds: offset {}, storage of {} elements", abi.name,
                                    access, fault.coordinate, fault.extent));
}

}  // namespace

Result<KernelLauncher> KernelLauncher::create(const ir::HostExecutable& executable, const ir::Program& program) {
  KernelLauncher launcher;
  launcher.executable_ = &executable;
  const ir::KernelAbi& abi = executable.abi();
  PADLOCK_CHECK(places(abi.inputs, program.tensor_parameters(), "an input", abi, launcher.inputs_));
  PADLOCK_CHECK(places(abi.results, program.results(), "a result", abi, launcher.results_));
  PADLOCK_CHECK(places(abi.scalars, program.scalar_parameters(), "a scalar", abi, launcher.scalars_));
  for (const ir::HostExecutable* variant = executable.specialised(); variant != nullptr;
       variant = variant->specialised()) {
    const ir::KernelAbi& other = variant->abi();
    if (other.inputs != abi.inputs || other.results != abi.results || other.scalars != abi.scalars)
      return internal_error(fmt::format("kernel {} takes other arguments than {}", other.name, abi.name));
  }
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
  const auto is_empty = [&](std::uint32_t result) { return arguments.output_bytes()[result] == 0; };
  if (std::all_of(results_.begin(), results_.end(), is_empty)) return bound;
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
  LaunchArray<void*> buffers(launcher_->inputs_.size() + launcher_->results_.size());
  std::size_t at = 0;
  for (const std::uint32_t place : launcher_->inputs_) buffers[at++] = inputs[place].data();
  for (const std::uint32_t place : launcher_->results_) buffers[at++] = outputs[place].data();
  LaunchArray<std::uint64_t> bits(launcher_->scalars_.size());
  for (std::size_t i = 0; i < launcher_->scalars_.size(); ++i) bits[i] = scalars[launcher_->scalars_[i]];

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
  return report(fault, abi());
}

}  // namespace padlock::runtime
