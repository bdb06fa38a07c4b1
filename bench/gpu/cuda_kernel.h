#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu/compiled.h"
#include "compiler/gpu_compiler.h"
#include "ir/binding.h"
#include "runtime/cuda/devices.h"
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

  [[nodiscard]] const CodeFacts& facts() const override { return facts_; }
  Status bind(const ir::BindRequest& request) override;
  Status launch(std::uint64_t input, std::uint64_t output) override;

  /// `launch` after the checks that a caller's buffers need.
  [[nodiscard]] Status launch_checked(runtime::UserBuffer input, runtime::UserBuffer output);
  /// `launch` where nobody knows whether the context is current.
  [[nodiscard]] Status launch_in_any_context(std::uint64_t input, std::uint64_t output);
  /// What every launch ends in: cuLaunchKernel, with the words of the last launch.
  [[nodiscard]] Status call_driver() const;

 private:
  CudaKernel(const CudaQueue& queue, ir::Program program)
      : queue_(queue), program_(std::move(program)), binder_(program_) {}
  [[nodiscard]] const ir::KernelAbi& abi() const { return code_.kernels[0][0]; }
  [[nodiscard]] Status load();
  void place(std::uint64_t input, std::uint64_t output);

  CudaQueue queue_;
  ir::Program program_;
  ir::Binder binder_;
  compiler::GpuCode code_;
  std::optional<runtime::cuda::Module> module_;
  std::optional<runtime::cuda::Function> function_;
  CodeFacts facts_;
  std::optional<BoundSizes> sizes_;
  runtime::cuda::LaunchShape shape_;
  std::vector<std::uint64_t> words_;  // fault, input, output, sizes
};

}  // namespace padlock::bench::gpu
