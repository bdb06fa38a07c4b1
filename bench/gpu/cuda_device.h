#pragma once

#include <memory>
#include <optional>

#include "bench/gpu/cuda_kernel.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/memory.h"

namespace padlock::bench::gpu {

/// A GPU through CUDA's driver: its primary context, current on the thread that made this, and a stream.
class CudaDevice final : public Device {
 public:
  /// Errors: unavailable, where there is no driver or no such device; else as the driver says.
  [[nodiscard]] static Result<std::unique_ptr<CudaDevice>> create(int ordinal);

  [[nodiscard]] const Facts& facts() const override { return facts_; }
  Result<std::int64_t> free_bytes() override;
  Result<std::unique_ptr<Memory>> allocate(std::int64_t bytes, const std::string& what) override;
  Status write(std::uint64_t to, std::span<const std::byte> from) override;
  Status read(std::span<std::byte> to, std::uint64_t from) override;
  Status synchronize() override { return stream_->synchronize(); }
  Status fill(std::uint64_t to, std::byte value, std::int64_t bytes) override;
  Status copy(std::uint64_t to, std::uint64_t from, std::int64_t bytes) override;
  Result<double> time_ms(int calls, const std::function<Status(int)>& queue) override;
  Result<std::unique_ptr<Kernel>> compile(const std::string& text,
                                          const std::optional<compiler::GpuConfig>& config) override;

  [[nodiscard]] Result<std::unique_ptr<CudaKernel>> compile_cuda(const std::string& text,
                                                                 const std::optional<compiler::GpuConfig>& config);
  [[nodiscard]] compiler::GpuCompiler& compiler() { return *compiler_; }

 private:
  CudaDevice() = default;
  [[nodiscard]] Status open(int ordinal);
  [[nodiscard]] Status prepare_timing();
  [[nodiscard]] Status keep_busy(double ms);

  Facts facts_;
  runtime::cuda::DeviceFacts device_facts_;
  std::unique_ptr<compiler::GpuCompiler> compiler_;
  // In the order in which they are made; dropped in the opposite one.
  std::unique_ptr<const runtime::cuda::Context> context_;
  std::optional<runtime::cuda::ContextScope> current_;
  std::optional<runtime::cuda::Stream> stream_;
  std::optional<runtime::cuda::Event> start_;
  std::optional<runtime::cuda::Event> end_;
  runtime::cuda::DeviceBuffer fault_;
  runtime::cuda::DeviceBuffer busy_;  // what keeps the device busy while work is queued
  double busy_ms_ = 0;                // one fill of it takes; 0 where that takes no time
  double queue_ms_ = 0.005;           // queueing one call takes, as last seen
};

}  // namespace padlock::bench::gpu
