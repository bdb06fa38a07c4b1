#include "runtime/cuda/gpu_queue.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace padlock::runtime::cuda {
namespace {

// Bytes that the device fills while work is queued. These fills and the longest timed work together fit a driver's
// queue.
constexpr std::int64_t kBusyBytes = std::int64_t{64} << 20;
constexpr double kMostFills = 100;
constexpr double kMarginMs = 0.02;

// The thread that queues work may be slower than expected. Then the work is timed again behind more fills; the added
// number decays over time.
constexpr int kMostTurns = 4;
constexpr double kFade = 0.98;

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

Status GpuQueue::prepare_timing() {
  if (end_) return {};
  PADLOCK_TRY(begin_, Event::create(stream_.context()));
  PADLOCK_TRY(Event end, Event::create(stream_.context()));
  if (auto memory = DeviceBuffer::allocate(stream_.context(), kBusyBytes, "what keeps the device busy")) {
    busy_ = *std::move(memory);
    for (int turn = 0; turn < 2; ++turn) {  // the first turn warms up
      PADLOCK_CHECK(begin_->record(stream_));
      PADLOCK_CHECK(fill(busy_.data(), std::byte{0}, kBusyBytes));
      PADLOCK_CHECK(end.record(stream_));
      PADLOCK_CHECK(end.synchronize());
    }
    PADLOCK_TRY(busy_ms_, end.milliseconds_since(*begin_));
  } else if (is_device_lost(memory.error())) {
    return std::unexpected(std::move(memory).error());
  }
  end_ = std::move(end);
  return {};
}

Status GpuQueue::keep_busy(double ms) {
  if (busy_ms_ <= 0) return {};
  const int fills = static_cast<int>(std::clamp(std::ceil(ms / busy_ms_), 1.0, kMostFills));
  for (int i = 0; i < fills; ++i) PADLOCK_CHECK(fill(busy_.data(), std::byte{0}, busy_.bytes()));
  return {};
}

Result<std::int64_t> GpuQueue::time(std::int64_t count, const std::function<Status(std::int64_t)>& work) {
  PADLOCK_CHECK(prepare_timing());
  for (int turn = 1;; ++turn) {
    const double hold = kMarginMs + hold_ms_ * static_cast<double>(count);
    PADLOCK_CHECK(keep_busy(hold));
    PADLOCK_CHECK(begin_->record(stream_));
    for (std::int64_t i = 0; i < count; ++i) PADLOCK_CHECK(work(i));
    PADLOCK_CHECK(end_->record(stream_));
    PADLOCK_TRY(const bool began, begin_->has_come());
    PADLOCK_CHECK(end_->synchronize());
    hold_ms_ = began ? std::min(2 * hold_ms_, kMostHold) : std::max(kFade * hold_ms_, kLeastHold);
    if (began && hold < kMostFills * busy_ms_ && turn < kMostTurns) continue;
    PADLOCK_TRY(const float milliseconds, end_->milliseconds_since(*begin_));
    return static_cast<std::int64_t>(std::llround(static_cast<double>(milliseconds) * 1e9));
  }
}

}  // namespace padlock::runtime::cuda
