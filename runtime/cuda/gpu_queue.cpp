#include "runtime/cuda/gpu_queue.h"

#include <bit>
#include <cmath>

#include "runtime/cuda/memory.h"

namespace padlock::runtime::cuda {
namespace {

CUdeviceptr address(const void* pointer) { return std::bit_cast<CUdeviceptr>(pointer); }

}  // namespace

Status GpuQueue::copy(void* to, const void* from, std::int64_t bytes) {
  return enqueue_copy(stream_, address(to), address(from), bytes);
}

Status GpuQueue::fill(void* to, std::byte value, std::int64_t bytes) {
  return enqueue_fill(stream_, address(to), value, bytes);
}

Status GpuQueue::write(void* to, std::span<const std::byte> from) { return copy_to_device(stream_, address(to), from); }

Status GpuQueue::read(std::span<std::byte> to, const void* from) { return copy_to_host(stream_, to, address(from)); }

Result<std::int64_t> GpuQueue::time(const std::function<Status()>& work) {
  for (std::optional<Event>* event : {&begin_, &end_})
    if (!*event) {
      PADLOCK_TRY(*event, Event::create(stream_.context()));
    }
  PADLOCK_CHECK(begin_->record(stream_));
  PADLOCK_CHECK(work());
  PADLOCK_CHECK(end_->record(stream_));
  PADLOCK_CHECK(end_->synchronize());
  PADLOCK_TRY(const float milliseconds, end_->milliseconds_since(*begin_));
  return static_cast<std::int64_t>(std::llround(static_cast<double>(milliseconds) * 1e9));
}

}  // namespace padlock::runtime::cuda
