#pragma once

#include <cstdint>
#include <span>

#include "ir/binding.h"
#include "ir/executable.h"
#include "runtime/arguments.h"
#include "runtime/buffer.h"
#include "runtime/kernel_arguments.h"
#include "runtime/parallel_for.h"
#include "runtime/task_grid.h"
#include "support/error.h"

namespace padlock::runtime {

/// A kernel bound to sizes: everything but pointers and scalars is evaluated. Immutable, thread-safe; borrows the
/// executable.
class BoundKernel {
 public:
  [[nodiscard]] std::int64_t rows() const { return plan_.rows; }
  [[nodiscard]] std::int64_t columns() const { return plan_.columns; }
  [[nodiscard]] const TaskGrid& grid() const { return grid_; }
  /// Of the variant that these sizes selected.
  [[nodiscard]] const ir::KernelAbi& abi() const { return executable_->abi(); }

  /// Runs the kernel. Buffers and scalars as the program orders them, already checked by ArgumentSizes. An empty
  /// output runs nothing; one task runs on the calling thread. Error: internal, where a bounds-check kernel met an
  /// access outside its storage (that access was skipped).
  [[nodiscard]] Status run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                           std::span<const std::uint64_t> scalars, const ParallelFor& pool) const;

 private:
  friend class KernelLauncher;
  BoundKernel() = default;
  const ir::HostExecutable* executable_ = nullptr;  // borrowed (outlives this)
  const class KernelLauncher* launcher_ = nullptr;  // borrowed (outlives this)
  ir::LaunchPlan plan_;
  TaskGrid grid_;
};

/// What a launch of one executable needs that no size changes: where its arguments stand in the program's lists.
/// Immutable, thread-safe; borrows the executable.
class KernelLauncher {
 public:
  /// Error: internal, where the contract names something that is no argument of the program, or a variant's differs.
  [[nodiscard]] static Result<KernelLauncher> create(const ir::HostExecutable& executable, const ir::Program& program);

  [[nodiscard]] const ir::KernelAbi& abi() const { return executable_->abi(); }
  /// Selects the variant and evaluates its contract under a binding of the same program, of which `arguments` is made
  /// too. `task_bytes`: output bytes of one pool task. The plan must not move or die while the bound kernel lives.
  [[nodiscard]] Result<BoundKernel> bind(const ir::Binding& binding, const ArgumentSizes& arguments,
                                         std::int64_t task_bytes) const;

 private:
  friend class BoundKernel;
  KernelLauncher() = default;
  const ir::HostExecutable* executable_ = nullptr;  // borrowed (outlives this)
  ArgumentPlaces places_;
};

}  // namespace padlock::runtime
