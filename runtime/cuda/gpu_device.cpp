#include "runtime/cuda/gpu_device.h"

#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "abi/gpu_targets.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/gpu_comparison.h"
#include "runtime/cuda/gpu_queue.h"
#include "runtime/cuda/loaded_program.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/scratch_memory.h"

namespace padlock::runtime::cuda {
namespace {

std::unexpected<Error> not_available(const DeviceId& id, const std::string& reason) {
  return unavailable(fmt::format("device {} is not available: {}", id.to_string(), reason));
}

/// Finds the driver, and checks that it has the device.
Result<std::shared_ptr<const Driver>> find_driver(const DeviceId& id) {
  auto driver = Driver::find();
  if (!driver) return not_available(id, driver.error().message);
  const auto count = device_count(**driver);
  if (!count) return not_available(id, count.error().message);
  if (id.ordinal >= *count)
    return not_available(id, fmt::format("{} has {} device{}", (*driver)->file, *count, *count == 1 ? "" : "s"));
  return driver;
}

/// Returns the newest known architecture whose code the GPU runs without translation between generations: the largest
/// of the same major version.
Result<std::string> target_for(const GpuFacts& gpu) {
  std::string best = abi::gpu_target_for(gpu.compute_major, gpu.compute_minor);
  if (best.empty())
    return not_available({DeviceKind::cuda, gpu.ordinal},
                         fmt::format("{} is of {}, code can be made for {}", gpu.name, gpu.architecture(),
                                     fmt::join(abi::gpu_targets(), ", ")));
  return best;
}

/// Returns the caller's context if it is of this device, else the primary one.
Result<std::unique_ptr<const Context>> context_of(std::shared_ptr<const Driver> driver, int ordinal, void* borrowed) {
  if (borrowed != nullptr) {
    PADLOCK_TRY(auto context, Context::borrow(driver, static_cast<CUcontext>(borrowed)));
    if (context->ordinal() == ordinal) return context;
  }
  return Context::retain_primary(std::move(driver), ordinal);
}

class GpuMemory final : public DeviceMemory {
 public:
  GpuMemory(Stream stream, DeviceBuffer buffer) : stream_(std::move(stream)), buffer_(std::move(buffer)) {
    data_ = buffer_.data();
    bytes_ = buffer_.bytes();
  }

 private:
  [[nodiscard]] std::byte* on_host() const override { return nullptr; }
  [[nodiscard]] Status write(std::int64_t offset, std::span<const std::byte> from) override {
    return copy_to_device(stream_, at(offset), from);
  }
  [[nodiscard]] Status read(std::int64_t offset, std::span<std::byte> to) const override {
    return copy_to_host(stream_, to, at(offset));
  }
  [[nodiscard]] Status copy_from(const DeviceMemory& from, std::int64_t from_offset, std::int64_t offset,
                                 std::int64_t bytes) override {
    const auto& other = static_cast<const GpuMemory&>(from);  // memory that is not on the host is a GPU's
    if (&other.stream_.context() != &stream_.context())
      return invalid_argument("expected memory of one GPU, found that of two");
    PADLOCK_CHECK(enqueue_copy(stream_, at(offset), other.at(from_offset), bytes));
    return stream_.synchronize();
  }
  [[nodiscard]] CUdeviceptr at(std::int64_t offset) const {
    return buffer_.address() + static_cast<CUdeviceptr>(offset);
  }

  Stream stream_;
  DeviceBuffer buffer_;
};

std::string describe(const GpuFacts& gpu) {
  std::string text = fmt::format("{}, {}, {} multiprocessors, L2 {}, memory {}", gpu.name, gpu.architecture(),
                                 gpu.multiprocessors, size_text(gpu.l2_bytes), size_text(gpu.memory_bytes));
  if (gpu.memory_bandwidth > 0) text += fmt::format(" at {} GB/s", gpu.memory_bandwidth / 1'000'000'000);
  return text;
}

Result<std::unique_ptr<const Device>> open_gpu(const DeviceId& id, const DeviceOptions& options,
                                               const std::shared_ptr<HostMemory>&) {
  return GpuDevice::open(id, options.cuda_context);
}

Status check_gpu(const DeviceId& id) {
  PADLOCK_TRY(const auto driver, find_driver(id));
  PADLOCK_TRY(const GpuFacts gpu, device_facts(*driver, id.ordinal));
  PADLOCK_CHECK(target_for(gpu));
  return {};
}

Result<std::vector<DeviceInfo>> find_gpus() {
  PADLOCK_TRY(const auto driver, find_driver({DeviceKind::cuda}));
  PADLOCK_TRY(const std::vector<GpuFacts> found, list_devices(*driver));
  std::vector<DeviceInfo> list;
  for (const GpuFacts& gpu : found) {
    const auto target = target_for(gpu);
    list.push_back({.id = {DeviceKind::cuda, gpu.ordinal},
                    .available = target.has_value(),
                    .description = target ? describe(gpu) : target.error().message,
                    .gpu = gpu});
  }
  return list;
}

std::vector<DeviceInfo> list_gpus() {
  auto found = find_gpus();
  if (found) return *std::move(found);
  return {{.id = {DeviceKind::cuda}, .description = found.error().message}};
}

}  // namespace

Result<std::unique_ptr<const GpuDevice>> GpuDevice::open(const DeviceId& id, void* borrowed) {
  PADLOCK_TRY(std::shared_ptr<const Driver> driver, find_driver(id));
  PADLOCK_TRY(GpuFacts gpu, device_facts(*driver, id.ordinal));
  PADLOCK_TRY(std::string target, target_for(gpu));
  PADLOCK_TRY(auto context, context_of(std::move(driver), id.ordinal, borrowed));
  DeviceTraits traits{.id = id, .target = std::move(target), .code_kind = abi::CodeKind::ptx, .host_memory = false};
  return std::unique_ptr<const GpuDevice>(new GpuDevice(std::move(traits), std::move(gpu), std::move(context)));
}

GpuDevice::GpuDevice(DeviceTraits traits, GpuFacts gpu, std::unique_ptr<const Context> context)
    : Device(std::move(traits)), gpu_(std::move(gpu)), context_(std::move(context)) {}

DeviceFacts GpuDevice::facts() const { return {.model = gpu_.name, .cache_bytes = {gpu_.l2_bytes}, .gpu = gpu_}; }

Status GpuDevice::check_target(const std::string& target) const {
  if (!abi::is_gpu(target))
    return invalid_argument(fmt::format("expected a target of device {}, found {}", id().to_string(), target));
  if (abi::gpu_target_number(target) <= 10 * gpu_.compute_major + gpu_.compute_minor) return {};
  return invalid_argument(fmt::format("expected a target that device {} ({}) runs, found {}", id().to_string(),
                                      gpu_.architecture(), target));
}

Result<std::int64_t> GpuDevice::free_bytes() const {
  PADLOCK_TRY(const std::optional<std::int64_t> known, free_memory(*context_));
  return known.value_or(gpu_.memory_bytes);
}

Result<std::unique_ptr<DeviceMemory>> GpuDevice::allocate(std::int64_t bytes, const std::string& what) const {
  PADLOCK_CHECK(check_bytes(bytes, what));
  PADLOCK_TRY(Stream stream, Stream::create(*context_));
  PADLOCK_TRY(DeviceBuffer buffer, DeviceBuffer::allocate(*context_, bytes, what));
  return std::make_unique<GpuMemory>(std::move(stream), std::move(buffer));
}

Result<std::unique_ptr<ScratchSpace>> GpuDevice::make_scratch_space() const {
  PADLOCK_TRY(Stream stream, Stream::create(*context_));
  return std::make_unique<DeviceScratchSpace>(std::move(stream));
}

Result<std::unique_ptr<Queue>> GpuDevice::make_queue() const {
  PADLOCK_TRY(Stream stream, Stream::create(*context_));
  return std::make_unique<GpuQueue>(std::move(stream));
}

Result<std::unique_ptr<Comparison>> GpuDevice::load_comparison(const abi::CompiledCode& code) const {
  return GpuComparison::load(*context_, code);
}

std::optional<double> GpuDevice::clock() const {
  const std::lock_guard lock(clock_mutex_);
  if (!std::exchange(looked_for_clock_, true)) clock_ = DeviceClock::open(context_->driver(), gpu_.ordinal);
  return clock_ ? clock_->megahertz() : std::nullopt;
}

Result<std::unique_ptr<const runtime::LoadedProgram>> GpuDevice::load(const ir::Program& program,
                                                                      abi::CompiledCode code) const {
  return LoadedProgram::load(*context_, gpu_, program, std::move(code), Module::load_ptx);
}

Result<std::unique_ptr<const runtime::LoadedProgram>> GpuDevice::load_beside(const ir::Program& program,
                                                                             abi::CompiledCode code) const {
  return LoadedProgram::load(*context_, gpu_, program, std::move(code), Module::link_ptx);
}

const DeviceFamily& gpu_family() {
  static constexpr DeviceFamily kFamily{DeviceKind::cuda, open_gpu, check_gpu, list_gpus};
  return kFamily;
}

}  // namespace padlock::runtime::cuda
