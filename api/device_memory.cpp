#include "api/device_memory.h"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <utility>

#include "api/context.h"
#include "api/cuda_devices.h"
#include "runtime/cuda/memory.h"

namespace padlock::api {

using runtime::cuda::CUdeviceptr;

struct DeviceMemory::State {
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (budget) budget->give_back();
  }

  std::shared_ptr<SharedBudget> budget;  // of the host's memory; shared: it outlives the context
  Allocation array;
  // On a GPU, instead of these:
  std::optional<runtime::cuda::Stream> stream;
  runtime::cuda::DeviceBuffer buffer;

  [[nodiscard]] std::span<std::byte> on_host(std::int64_t offset, std::int64_t count) const {
    return array.span().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(count));
  }
  [[nodiscard]] CUdeviceptr on_device(std::int64_t offset) const {
    return buffer.address() + static_cast<CUdeviceptr>(offset);
  }
};

Result<Allocation> SharedBudget::allocate(std::int64_t bytes, const std::string& what) {
  const std::lock_guard lock(mutex_);
  if (live_ == 0) budget_ = MemoryBudget::of_this_process();
  PADLOCK_TRY(Allocation made, budget_->allocate(bytes, what));
  ++live_;
  return made;
}

void SharedBudget::give_back() {
  const std::lock_guard lock(mutex_);
  --live_;
}

DeviceMemory::DeviceMemory(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept = default;
DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept = default;
DeviceMemory::~DeviceMemory() = default;

void* DeviceMemory::data() const { return state_->stream ? state_->buffer.data() : state_->array.data(); }
std::int64_t DeviceMemory::bytes() const { return state_->stream ? state_->buffer.bytes() : state_->array.bytes(); }

Status DeviceMemory::copy(const DeviceMemory& to, std::int64_t to_offset, const DeviceMemory& from,
                          std::int64_t from_offset, std::int64_t bytes) {
  for (const auto& [memory, offset] : {std::pair(&to, to_offset), std::pair(&from, from_offset)})
    if (offset < 0 || bytes < 0 || bytes > memory->bytes() || offset > memory->bytes() - bytes)
      return std::unexpected(
          Error{Code::out_of_range, Blame::user,
                fmt::format("expected bytes of {} from {} on within {}", bytes, offset, memory->bytes())});
  const State &target = *to.state_, &source = *from.state_;
  if (bytes == 0) return {};
  if (!target.stream && !source.stream) {
    std::memmove(target.on_host(to_offset, bytes).data(), source.on_host(from_offset, bytes).data(),
                 static_cast<std::size_t>(bytes));
    return {};
  }
  if (!source.stream)
    return runtime::cuda::copy_to_device(*target.stream, target.on_device(to_offset),
                                         source.on_host(from_offset, bytes));
  if (!target.stream)
    return runtime::cuda::copy_to_host(*source.stream, target.on_host(to_offset, bytes), source.on_device(from_offset));
  if (&target.stream->context() != &source.stream->context())
    return invalid_argument("expected memory of one GPU, found that of two");
  PADLOCK_CHECK(
      runtime::cuda::enqueue_copy(*target.stream, target.on_device(to_offset), source.on_device(from_offset), bytes));
  return target.stream->synchronize();
}

Result<DeviceMemory> Context::allocate(const Device& device, std::int64_t bytes, const std::string& what) {
  if (bytes < 0) return invalid_argument(fmt::format("expected 0 bytes or more for {}, found {}", what, bytes));
  auto state = std::make_unique<DeviceMemory::State>();
  if (device.kind == DeviceKind::cuda) {
    PADLOCK_TRY(const CudaDevice* const gpu, cuda_->open(device));
    PADLOCK_TRY(state->stream, runtime::cuda::Stream::create(*gpu->context));
    PADLOCK_TRY(state->buffer, runtime::cuda::DeviceBuffer::allocate(*gpu->context, bytes, what));
  } else {
    PADLOCK_TRY(state->array, budget_->allocate(bytes, what));
    state->budget = budget_;
  }
  return DeviceMemory(std::move(state));
}

}  // namespace padlock::api
