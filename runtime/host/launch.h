#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "abi/launch_plan.h"
#include "ir/binding/binding.h"
#include "runtime/buffer.h"
#include "runtime/host/host_image.h"
#include "runtime/host/task_grid.h"
#include "runtime/kernel_arguments.h"
#include "runtime/parallel_for.h"
#include "support/error.h"

namespace padlock::runtime {

/// A kernel bound to sizes: everything but pointers and scalars is evaluated. Immutable, thread-safe; borrows its
/// launcher.
class BoundKernel {
 public:
  [[nodiscard]] std::int64_t rows() const { return plan_.rows; }
  [[nodiscard]] std::int64_t columns() const { return plan_.columns; }
  /// Returns the tasks of a launch of all rows.
  [[nodiscard]] const TaskGrid& grid() const { return grid_; }
  /// Returns the ABI of the variant that these sizes selected.
  [[nodiscard]] const abi::KernelAbi& abi() const { return variant_->abi; }

  /// Runs the kernel, or for a GPU's code its launches one after the other (abi::LaunchParts). Buffers and scalars are
  /// in the program's order, and checked by ArgumentSizes. An empty output runs nothing; a single task runs on the
  /// calling thread. Error: internal if a kernel with bounds checks met an access outside its storage (the access was
  /// skipped).
  [[nodiscard]] Status run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                           std::span<const std::uint64_t> scalars, const ParallelFor& pool) const;

 private:
  friend class KernelLauncher;
  struct FreePlan {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  BoundKernel() = default;
  /// Allocates and writes the variant's plan, if it has one. Error: resource_exhausted.
  [[nodiscard]] Status make_plan();
  /// Runs one launch of so many rows.
  void run(const abi::HostLaunch& launch, std::int64_t rows, const TaskGrid& grid, const ParallelFor& pool) const;
  void run_parts(abi::HostLaunch launch, std::span<void* const> buffers, const ParallelFor& pool) const;

  const HostVariant* variant_ = nullptr;            // borrowed from the launcher (outlives this)
  abi::HostEntry entry_ = nullptr;                  // the variant's
  const class KernelLauncher* launcher_ = nullptr;  // borrowed (outlives this)
  abi::LaunchPlan plan_;
  std::int64_t task_bytes_ = 0;
  std::unique_ptr<std::byte, FreePlan> memory_;  // the plan, shared_bytes of `plan_`; null if there is none
  TaskGrid grid_;
  std::vector<std::vector<std::uint64_t>> offsets_;  // for each part: buffer_offsets
};

/// KernelLauncher holds everything for a launch of one kernel that does not depend on sizes: its variants, and its
/// arguments' positions in the program's lists. Immutable, thread-safe; the code of the variants must outlive it.
class KernelLauncher {
 public:
  /// `variants`: the one without assumptions first. Error: internal if a contract names a missing argument, or the
  /// variants take different arguments.
  [[nodiscard]] static Result<KernelLauncher> create(std::vector<HostVariant> variants, const ir::Program& program);

  [[nodiscard]] std::span<const HostVariant> variants() const { return variants_; }
  /// Returns the ABI of the variant without assumptions.
  [[nodiscard]] const abi::KernelAbi& abi() const { return variants_.front().abi; }
  /// Selects the variant and evaluates its contract under a binding of the same program. `task_bytes`: least output
  /// bytes of one task. `threads`: how many will share a launch (1 shares nothing); 0 if unknown. The launcher must not
  /// move or die while the bound kernel lives. Errors as abi::LaunchPlanner::plan; resource_exhausted without memory
  /// for a plan.
  [[nodiscard]] Result<BoundKernel> bind(const ir::Binding& binding, std::int64_t task_bytes, int threads = 0) const;

 private:
  friend class BoundKernel;
  KernelLauncher(std::vector<HostVariant> variants, ArgumentPlaces places, abi::LaunchPlanner planner)
      : variants_(std::move(variants)), places_(std::move(places)), planner_(std::move(planner)) {}
  std::vector<HostVariant> variants_;  // the one without assumptions first
  ArgumentPlaces places_;
  abi::LaunchPlanner planner_;
};

}  // namespace padlock::runtime
