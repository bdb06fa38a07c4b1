#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "abi/compiled_code.h"
#include "abi/launch_plan.h"
#include "ir/binding/binding.h"
#include "runtime/buffer.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/module.h"
#include "runtime/kernel_arguments.h"
#include "support/error.h"

namespace padlock::runtime::cuda {

/// A kernel bound to sizes: variant, grid and all parameters except pointers and scalars are known. Immutable,
/// thread-safe; borrows its launcher, which must neither move nor die meanwhile.
class BoundKernel {
 public:
  /// One driver call.
  struct Launch {
    LaunchShape shape;
    /// The parameters: for a buffer the bytes to add to its address, for a scalar 0.
    std::vector<std::uint64_t> words;
  };

  /// Return the ABI and the function of the variant that these sizes selected. An empty grid has no function.
  [[nodiscard]] const abi::KernelAbi& abi() const;
  [[nodiscard]] const Function& function() const { return *function_; }
  /// In order: none for an empty output, usually one, several if the code counts fewer elements than there are
  /// (abi::LaunchParts).
  [[nodiscard]] std::span<const Launch> launches() const { return launches_; }
  /// Return the values of the first launch; without a launch an empty grid and no words.
  [[nodiscard]] LaunchShape shape() const { return launches_.empty() ? LaunchShape() : launches_.front().shape; }
  [[nodiscard]] std::span<const std::uint64_t> words() const {
    return launches_.empty() ? std::span<const std::uint64_t>() : launches_.front().words;
  }

  /// Queues the kernel on a stream of its context. Buffers (device addresses) and scalars are in the program's order,
  /// and checked by ArgumentSizes. Makes the driver calls of `launches`, up to the first that fails; errors as
  /// cuda::launch.
  [[nodiscard]] Status launch(const ContextScope& current, std::span<const BufferView> inputs,
                              std::span<const BufferView> outputs, std::span<const std::uint64_t> scalars,
                              const Stream& stream) const;

 private:
  friend class KernelLauncher;
  BoundKernel() = default;
  const class KernelLauncher* launcher_ = nullptr;  // borrowed (outlives this)
  std::size_t variant_ = 0;
  const Function* function_ = nullptr;  // borrowed from the program's modules (outlive this)
  std::vector<Launch> launches_;
};

/// KernelLauncher holds everything for a launch of one kernel that does not depend on sizes. Thread-safe; borrows the
/// modules and the device's facts.
class KernelLauncher {
 public:
  /// `variants`: of one kernel, the one without assumptions first. The modules have an entry by the name of each, which
  /// is loaded when sizes select it. `fault`: device address of the kernel's zeroed abi::AccessFault, which the caller
  /// keeps. Errors: internal for a contract that is not a GPU's, takes more words than a launch, has no entry, or names
  /// a missing argument.
  [[nodiscard]] static Result<KernelLauncher> create(const ProgramModules& modules,
                                                     std::vector<abi::KernelVariant> variants,
                                                     const ir::Program& program, const GpuFacts& device,
                                                     CUdeviceptr fault);

  [[nodiscard]] std::size_t variant_count() const { return variants_.size(); }
  [[nodiscard]] const abi::KernelAbi& abi(std::size_t variant = 0) const { return variants_[variant]->abi; }
  /// Selects the variant and evaluates its contract under a binding of the same program. Makes driver calls only to
  /// load the code, for the first sizes that select a variant. Errors as abi::LaunchPlanner::plan; resource_exhausted
  /// if the device cannot launch so many blocks; failed_precondition if the code's registers and shared memory do not
  /// allow so many threads per block; else as ProgramModules::function.
  [[nodiscard]] Result<BoundKernel> bind(const ir::Binding& binding) const;

 private:
  friend class BoundKernel;
  struct Variant {
    abi::KernelAbi abi;
    bool waits;  // whether the kernel itself waits for the work before it
    /// Null until sizes select the variant; set by any thread, each to the same. With release, and read with acquire:
    /// who finds the pointer finds the function.
    mutable std::atomic<const Function*> function = nullptr;
  };

  KernelLauncher(const ProgramModules& modules, const GpuFacts& device, ArgumentPlaces places,
                 abi::LaunchPlanner planner, CUdeviceptr fault)
      : modules_(&modules), device_(&device), places_(std::move(places)), planner_(std::move(planner)), fault_(fault) {}
  [[nodiscard]] Result<const Function*> function_of(const Variant& variant) const;
  /// Makes a launch of so many blocks that adds nothing to addresses.
  [[nodiscard]] Result<BoundKernel::Launch> make_launch(const Variant& variant, std::int64_t blocks,
                                                        std::int64_t shared_bytes,
                                                        std::span<const std::int64_t> sizes) const;

  const ProgramModules* modules_;                         // borrowed (outlive this)
  const GpuFacts* device_;                                // borrowed (outlive this)
  std::vector<std::unique_ptr<const Variant>> variants_;  // each on the heap, as an atomic cannot move
  ArgumentPlaces places_;
  abi::LaunchPlanner planner_;
  CUdeviceptr fault_;  // borrowed (outlives this)
};

}  // namespace padlock::runtime::cuda
