#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/binding.h"
#include "ir/compiled_code.h"
#include "ir/program.h"
#include "runtime/arguments.h"
#include "runtime/buffer.h"
#include "runtime/cuda/kernel_launcher.h"
#include "runtime/cuda/memory.h"
#include "support/error.h"

namespace padlock::runtime::cuda {

/// A loaded program bound to sizes. Immutable, thread-safe, so launches may run at once; borrows the loaded program and
/// what ArgumentSizes borrows.
class BoundLaunch {
 public:
  /// Queues all kernels on a stream of the program's context. Buffers are device addresses; buffers and scalars in the
  /// program's orders, and alive, the inputs unchanged, until the stream has got there. Allocates nothing, waits for
  /// nothing, is legal while the stream is captured: beside making the context current, which ContextScope does, one
  /// driver call a kernel that has something to write. Errors: invalid_argument, naming the argument, as ArgumentSizes'
  /// checks, before anything is queued; else as cuda::launch, among them those of earlier work (a lost device). What
  /// these kernels do wrong shows at LoadedProgram::synchronize.
  [[nodiscard]] Status launch(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                              std::span<const std::uint64_t> scalars, const Stream& stream) const;

  [[nodiscard]] std::span<const BoundKernel> kernels() const { return kernels_; }

 private:
  friend class LoadedProgram;
  BoundLaunch(const Context& context, ArgumentSizes sizes) : context_(&context), sizes_(std::move(sizes)) {}
  const Context* context_;  // borrowed (outlives this)
  ArgumentSizes sizes_;
  std::vector<BoundKernel> kernels_;
};

/// The kernels of one program, loaded into a context, which it borrows. Immutable, thread-safe. Making and dropping one
/// allocates and frees device memory, and is illegal while a stream of the context is captured.
class LoadedProgram {
 public:
  /// Compiles the PTX that the code is. The program must outlive this. Errors: internal for other code; else as
  /// Module::load_ptx, DeviceBuffer::allocate and KernelLauncher::create.
  [[nodiscard]] static Result<std::unique_ptr<const LoadedProgram>> load(const Context& context,
                                                                         const DeviceFacts& device,
                                                                         const ir::Program& program,
                                                                         ir::CompiledCode code);
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] std::span<const KernelLauncher> kernels() const { return kernels_; }

  /// Makes no driver call. `sizes` is of the same binding. Errors as KernelLauncher::bind.
  [[nodiscard]] Result<BoundLaunch> bind(const ir::Binding& binding, const ArgumentSizes& sizes) const;

  /// Waits until all work of the stream is done. Errors: that of the work (a lost device); internal, as check_fault
  /// says it, where an access of one of this program's kernels was outside its storage since that was asked last, on
  /// whichever stream; failed_precondition while the stream is captured.
  [[nodiscard]] Status synchronize(const Stream& stream) const;

 private:
  LoadedProgram(const Context& context, std::string name, Module module, DeviceBuffer faults)
      : context_(context), name_(std::move(name)), module_(std::move(module)), faults_(std::move(faults)) {}
  [[nodiscard]] Status clear_faults(const Stream& stream) const;

  const Context& context_;  // borrowed (outlives this)
  std::string name_;        // for messages
  Module module_;
  DeviceBuffer faults_;  // an ir::AccessFault for each kernel
  std::vector<KernelLauncher> kernels_;
};

}  // namespace padlock::runtime::cuda
