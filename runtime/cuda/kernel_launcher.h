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

/// A kernel bound to sizes: variant, grid and all parameters but pointers and scalars are known. Immutable,
/// thread-safe; borrows its launcher, which must not move or die meanwhile.
class BoundKernel {
 public:
  /// One driver call.
  struct Launch {
    LaunchShape shape;
    /// The parameters: where a buffer goes the bytes that are added to its address, 0 where a scalar goes.
    std::vector<std::uint64_t> words;
  };

  /// Return the ABI and the function of the variant that these sizes selected. An empty grid has no function.
  [[nodiscard]] const abi::KernelAbi& abi() const;
  [[nodiscard]] const Function& function() const { return *function_; }
  /// In order: none for an empty output, one for nearly all others, several where the code counts fewer elements than
  /// there are (abi::LaunchParts).
  [[nodiscard]] std::span<const Launch> launches() const { return launches_; }
  /// Return what the first of them has: an empty grid and no words, where there is none.
  [[nodiscard]] LaunchShape shape() const { return launches_.empty() ? LaunchShape() : launches_.front().shape; }
  [[nodiscard]] std::span<const std::uint64_t> words() const {
    return launches_.empty() ? std::span<const std::uint64_t>() : launches_.front().words;
  }

  /// Queues the kernel on a stream of its context. Buffers, which are device addresses, and scalars as the program
  /// orders them, already checked by ArgumentSizes. Makes the driver calls of `launches`, up to the first that fails;
  /// errors as cuda::launch.
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

/// KernelLauncher holds what a launch of one kernel needs that no size changes. Thread-safe; borrows the modules and
/// the device's facts.
class KernelLauncher {
 public:
  /// `variants`: those of one kernel, the one that assumes nothing first; the modules have an entry of each one's name,
  /// which is loaded when sizes take it. `fault`: device address of its zeroed abi::AccessFault, which the caller
  /// keeps. Errors: internal, where a contract is not a GPU's, takes more words than a launch does, has no entry, or
  /// names what is no argument of the program.
  [[nodiscard]] static Result<KernelLauncher> create(const ProgramModules& modules,
                                                     std::vector<abi::KernelVariant> variants,
                                                     const ir::Program& program, const GpuFacts& device,
                                                     CUdeviceptr fault);

  [[nodiscard]] std::size_t variant_count() const { return variants_.size(); }
  [[nodiscard]] const abi::KernelAbi& abi(std::size_t variant = 0) const { return variants_[variant]->abi; }
  /// Selects the variant and evaluates its contract under a binding of the same program. Makes no driver call, but for
  /// the first sizes that take the variant, whose code is loaded then. Errors as abi::LaunchPlanner::plan;
  /// resource_exhausted, where the device launches no grid of so many blocks; failed_precondition, where the registers
  /// and shared memory of the code do not allow blocks of so many threads; else as ProgramModules::function.
  [[nodiscard]] Result<BoundKernel> bind(const ir::Binding& binding) const;

 private:
  friend class BoundKernel;
  struct Variant {
    abi::KernelAbi abi;
    bool waits;  // itself for the work before it
    /// Null as long as no sizes took it; set once, by whichever thread.
    mutable std::atomic<const Function*> function = nullptr;
  };

  KernelLauncher(const ProgramModules& modules, const GpuFacts& device, ArgumentPlaces places,
                 abi::LaunchPlanner planner, CUdeviceptr fault)
      : modules_(&modules), device_(&device), places_(std::move(places)), planner_(std::move(planner)), fault_(fault) {}
  [[nodiscard]] Result<const Function*> function_of(const Variant& variant) const;
  /// Makes a launch of so many blocks, which adds nothing to addresses.
  [[nodiscard]] Result<BoundKernel::Launch> make_launch(const Variant& variant, std::int64_t blocks,
                                                        std::int64_t shared_bytes,
                                                        std::span<const std::int64_t> sizes) const;

  const ProgramModules* modules_;                         // borrowed (outlive this)
  const GpuFacts* device_;                                // borrowed (outlive this)
  std::vector<std::unique_ptr<const Variant>> variants_;  // each at an address of its own, as an atomic has to stay
  ArgumentPlaces places_;
  abi::LaunchPlanner planner_;
  CUdeviceptr fault_;  // borrowed (outlives this)
};

}  // namespace padlock::runtime::cuda
