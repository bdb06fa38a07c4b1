#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "abi/compiled_code.h"
#include "ir/binding/binding.h"
#include "ir/program.h"
#include "runtime/arguments.h"
#include "runtime/buffer.h"
#include "runtime/cuda/kernel_launcher.h"
#include "runtime/cuda/memory.h"
#include "runtime/device.h"
#include "support/error.h"

namespace padlock::runtime::cuda {

class LoadedProgram;

/// A program's kernels bound to sizes. Makes the context current (ContextScope), then makes one driver call per kernel
/// with a nonempty result. Makes several if the code counts fewer elements than there are (BoundKernel::launches).
class BoundLaunch final : public runtime::BoundLaunch {
 public:
  [[nodiscard]] std::span<const BoundKernel> kernels() const { return kernels_; }
  [[nodiscard]] Status synchronize(void* stream) const override;

 private:
  friend class LoadedProgram;
  BoundLaunch(const LoadedProgram& program, ArgumentSizes sizes)
      : runtime::BoundLaunch(std::move(sizes), /*takes_aligned=*/true), program_(program) {}
  [[nodiscard]] Status run(std::span<const BufferView> inputs, std::span<const BufferView> outputs,
                           std::span<const std::uint64_t> scalars, void* stream) const override;

  const LoadedProgram& program_;  // borrowed (outlives this)
  std::vector<BoundKernel> kernels_;
};

/// The kernels of one program in a borrowed context, with the device's facts. Thread-safe. Creating it allocates device
/// memory, and so does the first binding that selects a variant (KernelLauncher::bind). Both are legal while a stream
/// is captured (BesideCapture). Dropping it frees memory, which is illegal during a capture.
class LoadedProgram final : public runtime::LoadedProgram {
 public:
  /// The program must outlive this. The driver does not read the PTX yet. Errors: internal for code that is not PTX;
  /// else as DeviceBuffer::allocate and KernelLauncher::create.
  [[nodiscard]] static Result<std::unique_ptr<const LoadedProgram>> load(const Context& context, const GpuFacts& device,
                                                                         const ir::Program& program,
                                                                         abi::CompiledCode code,
                                                                         ProgramModules::Make make_module);

  [[nodiscard]] const Context& context() const { return context_; }
  [[nodiscard]] std::span<const KernelLauncher> kernels() const { return kernels_; }

  [[nodiscard]] std::vector<std::vector<const abi::KernelAbi*>> contracts() const override;
  [[nodiscard]] Result<std::unique_ptr<const runtime::BoundLaunch>> bind(const ir::Binding& binding,
                                                                         ArgumentSizes sizes) const override;

  /// Waits until all work of the stream is done. Errors: the work's (a lost device); internal, as check_fault says it,
  /// if a kernel of this program accessed an element outside its storage since the last question, on any stream;
  /// failed_precondition while the stream is captured.
  [[nodiscard]] Status synchronize(const Stream& stream) const;

 private:
  LoadedProgram(const Context& context, std::string name, std::unique_ptr<const ProgramModules> modules,
                DeviceBuffer faults)
      : context_(context), name_(std::move(name)), modules_(std::move(modules)), faults_(std::move(faults)) {}
  [[nodiscard]] Status clear_faults(const Stream& stream) const;

  const Context& context_;  // borrowed (outlives this)
  std::string name_;        // for messages
  std::unique_ptr<const ProgramModules> modules_;
  DeviceBuffer faults_;  // an abi::AccessFault for each kernel
  std::vector<KernelLauncher> kernels_;
};

}  // namespace padlock::runtime::cuda
