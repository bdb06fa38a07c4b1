#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu/compiled.h"
#include "compiler/gpu_compiler.h"
#include "ir/binding.h"
#include "runtime/arguments.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/kernel_launcher.h"
#include "runtime/cuda/launch.h"

namespace padlock::bench::gpu {

/// Where a kernel is loaded and launched. All borrowed (outlive the kernels).
struct CudaQueue {
  const runtime::cuda::ContextScope* current = nullptr;
  const runtime::cuda::Stream* stream = nullptr;
  const runtime::cuda::DeviceFacts* facts = nullptr;
  std::uint64_t fault = 0;  ///< device memory of an ir::AccessFault, zeroed
};

/// A kernel in a driver module. Beside the steps of a Kernel it has those that host costs are measured of.
class CudaKernel final : public Kernel {
 public:
  [[nodiscard]] static Result<std::unique_ptr<CudaKernel>> compile(compiler::GpuCompiler& compiler,
                                                                   const CudaQueue& queue, const std::string& text,
                                                                   const compiler::GpuOptions& options);

  /// Registers and spills are of the variant that was bound last.
  [[nodiscard]] const CodeFacts& facts() const override { return facts_; }
  Status bind(const ir::BindRequest& request) override;
  Status launch(std::uint64_t input, std::uint64_t output) override;

  /// `launch` after the checks that a caller's buffers need.
  [[nodiscard]] Status launch_checked(runtime::UserBuffer input, runtime::UserBuffer output) const;
  /// `launch` where nobody knows whether the context is current.
  [[nodiscard]] Status launch_in_any_context(std::uint64_t input, std::uint64_t output) const;
  /// What every launch ends in: cuLaunchKernel, with the same words.
  [[nodiscard]] Status call_driver(std::uint64_t input, std::uint64_t output) const;

 private:
  CudaKernel(const CudaQueue& queue, ir::Program program)
      : queue_(queue), program_(std::move(program)), binder_(program_), sizer_(program_) {}
  [[nodiscard]] Status load(ir::CompiledCode code);
  [[nodiscard]] Status launch_in(const runtime::cuda::ContextScope& scope, std::uint64_t input,
                                 std::uint64_t output) const;

  CudaQueue queue_;
  ir::Program program_;
  ir::Binder binder_;
  runtime::ArgumentSizer sizer_;
  std::optional<runtime::cuda::Module> module_;
  std::optional<runtime::cuda::KernelLauncher> launcher_;
  CodeFacts facts_;
  std::optional<runtime::ArgumentSizes> sizes_;
  std::optional<runtime::cuda::BoundKernel> bound_;
  std::optional<runtime::cuda::Function> function_;  // of the bound variant
};

}  // namespace padlock::bench::gpu
