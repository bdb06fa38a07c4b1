#include "bench/gpu/cuda_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "support/stopwatch.h"

namespace padlock::bench::gpu {
namespace {

namespace cuda = runtime::cuda;

constexpr std::int64_t kBusyBytes = std::int64_t{64} << 20;
constexpr int kMaxBusyFills = 100;  // with kMaxCalls, below what a driver's queue holds

class CudaMemory final : public Memory {
 public:
  explicit CudaMemory(cuda::DeviceBuffer buffer) : buffer_(std::move(buffer)) {}
  [[nodiscard]] std::uint64_t address() const override { return buffer_.address(); }

 private:
  cuda::DeviceBuffer buffer_;
};

}  // namespace

Result<std::unique_ptr<CudaDevice>> CudaDevice::create(int ordinal) {
  std::unique_ptr<CudaDevice> device(new CudaDevice);
  PADLOCK_CHECK(device->open(ordinal));
  PADLOCK_CHECK(device->prepare_timing());
  return device;
}

Status CudaDevice::open(int ordinal) {
  PADLOCK_TRY(std::shared_ptr<const cuda::Driver> driver, cuda::Driver::find());
  PADLOCK_TRY(device_facts_, cuda::device_facts(*driver, ordinal));
  PADLOCK_TRY(context_, cuda::Context::retain_primary(driver, ordinal));
  PADLOCK_TRY(cuda::ContextScope scope, cuda::ContextScope::enter(*context_));
  current_.emplace(std::move(scope));
  PADLOCK_TRY(cuda::Stream stream, cuda::Stream::create(*context_));
  stream_.emplace(std::move(stream));
  const std::string target = compiler::gpu_target_for(device_facts_.compute_major, device_facts_.compute_minor);
  if (target.empty()) return unavailable(fmt::format("no code can be made for {}", device_facts_.architecture()));
  PADLOCK_TRY(compiler_, compiler::GpuCompiler::create(target));
  PADLOCK_TRY(fault_, cuda::DeviceBuffer::allocate(*context_, sizeof(ir::AccessFault), "the fault word"));
  PADLOCK_CHECK(cuda::enqueue_fill(*stream_, fault_.address(), std::byte{0}, fault_.bytes()));
  facts_ = {.device = fmt::format("cuda:{}", ordinal),
            .name = device_facts_.name,
            .architecture = target,
            .multiprocessors = device_facts_.multiprocessors,
            .l2_bytes = device_facts_.l2_bytes,
            .memory_bytes = device_facts_.memory_bytes,
            .memory_bandwidth = device_facts_.memory_bandwidth,
            .driver_version = device_facts_.driver_version};
  return {};
}

Status CudaDevice::prepare_timing() {
  PADLOCK_TRY(cuda::Event start, cuda::Event::create(*context_));
  start_.emplace(std::move(start));
  PADLOCK_TRY(cuda::Event end, cuda::Event::create(*context_));
  end_.emplace(std::move(end));
  PADLOCK_TRY(busy_, cuda::DeviceBuffer::allocate(*context_, kBusyBytes, "the memory that keeps the device busy"));
  constexpr int kFills = 5;
  for (int turn = 0; turn < 2; ++turn) {  // the first warms up
    PADLOCK_CHECK(start_->record(*stream_));
    for (int i = 0; i < kFills; ++i)
      PADLOCK_CHECK(cuda::enqueue_fill(*stream_, busy_.address(), std::byte{0}, busy_.bytes()));
    PADLOCK_CHECK(end_->record(*stream_));
    PADLOCK_CHECK(end_->synchronize());
    PADLOCK_TRY(const float ms, end_->milliseconds_since(*start_));
    busy_ms_ = ms / double{kFills};
  }
  return {};
}

Status CudaDevice::keep_busy(double ms) {
  if (busy_ms_ <= 0) return {};  // a driver without a GPU
  const int fills = static_cast<int>(std::clamp(std::ceil(ms / busy_ms_), 1.0, double{kMaxBusyFills}));
  for (int i = 0; i < fills; ++i)
    PADLOCK_CHECK(cuda::enqueue_fill(*stream_, busy_.address(), std::byte{0}, busy_.bytes()));
  return {};
}

Result<std::int64_t> CudaDevice::free_bytes() {
  PADLOCK_TRY(const std::optional<std::int64_t> bytes, cuda::free_memory(*context_));
  return bytes.value_or(device_facts_.memory_bytes / 2);
}

Result<std::unique_ptr<Memory>> CudaDevice::allocate(std::int64_t bytes, const std::string& what) {
  PADLOCK_TRY(cuda::DeviceBuffer buffer, cuda::DeviceBuffer::allocate(*context_, bytes, what));
  return std::make_unique<CudaMemory>(std::move(buffer));
}

Status CudaDevice::write(std::uint64_t to, std::span<const std::byte> from) {
  return cuda::copy_to_device(*stream_, to, from);
}

Status CudaDevice::read(std::span<std::byte> to, std::uint64_t from) {
  PADLOCK_CHECK(cuda::copy_to_host(*stream_, to, from));
  ir::AccessFault fault;
  PADLOCK_CHECK(cuda::copy_to_host(*stream_, std::as_writable_bytes(std::span(&fault, 1)), fault_.address()));
  if (fault.claimed == 0) return {};
  return internal_error(fmt::format("access {} of a kernel is out of bounds: offset {}, storage of {} elements",
                                    fault.access, fault.coordinate, fault.extent));
}

Status CudaDevice::fill(std::uint64_t to, std::byte value, std::int64_t bytes) {
  return cuda::enqueue_fill(*stream_, to, value, bytes);
}

Status CudaDevice::copy(std::uint64_t to, std::uint64_t from, std::int64_t bytes) {
  return cuda::enqueue_copy(*stream_, to, from, bytes);
}

Result<double> CudaDevice::time_ms(int calls, const std::function<Status(int)>& queue) {
  // The device is still busy with something else when the last call is queued, so none waits for the host.
  PADLOCK_CHECK(keep_busy(1.5 * calls * queue_ms_ + 0.02));
  PADLOCK_CHECK(start_->record(*stream_));
  const Stopwatch watch;
  for (int i = 0; i < calls; ++i) PADLOCK_CHECK(queue(i));
  queue_ms_ = std::clamp(watch.milliseconds() / std::max(calls, 1), 0.001, 0.1);
  PADLOCK_CHECK(end_->record(*stream_));
  PADLOCK_CHECK(end_->synchronize());
  PADLOCK_TRY(const float ms, end_->milliseconds_since(*start_));
  return ms;
}

Result<std::unique_ptr<CudaKernel>> CudaDevice::compile_cuda(const std::string& text,
                                                             const std::optional<compiler::GpuConfig>& config) {
  const CudaQueue queue{&*current_, &*stream_, &device_facts_, fault_.address()};
  return CudaKernel::compile(*compiler_, queue, text, {.config = config, .bounds_check = false});
}

Result<std::unique_ptr<Kernel>> CudaDevice::compile(const std::string& text,
                                                    const std::optional<compiler::GpuConfig>& config) {
  return compile_cuda(text, config);
}

Result<std::unique_ptr<Device>> make_cuda_device(int ordinal) { return CudaDevice::create(ordinal); }

Result<std::unique_ptr<Device>> make_device(const std::string& name) {
  constexpr std::string_view kCuda = "cuda:";
  if (name == "simt") return make_simt_device();
  int ordinal = -1;
  if (name.starts_with(kCuda)) {
    const auto [end, error] = std::from_chars(name.data() + kCuda.size(), name.data() + name.size(), ordinal);
    if (error == std::errc{} && end == name.data() + name.size() && ordinal >= 0) return make_cuda_device(ordinal);
  }
  return invalid_argument(fmt::format("expected a device (cuda:N or simt), found '{}'", name));
}

}  // namespace padlock::bench::gpu
