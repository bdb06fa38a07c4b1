#pragma once

#include <optional>

#include "runtime/cuda/event.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream.h"
#include "runtime/device.h"

namespace padlock::runtime::cuda {

/// A stream as a queue of its device.
class GpuQueue final : public Queue {
 public:
  explicit GpuQueue(Stream stream) : stream_(std::move(stream)) {}

  [[nodiscard]] void* stream() const override { return stream_.handle(); }
  [[nodiscard]] Status copy(void* to, const void* from, std::int64_t bytes) override;
  [[nodiscard]] Status fill(void* to, std::byte value, std::int64_t bytes) override;
  [[nodiscard]] Status write(void* to, std::span<const std::byte> from) override;
  [[nodiscard]] Status read(std::span<std::byte> to, const void* from) override;
  [[nodiscard]] Status synchronize() override { return stream_.synchronize(); }
  [[nodiscard]] Result<std::int64_t> time(std::int64_t count, const std::function<Status(std::int64_t)>& work) override;

 private:
  [[nodiscard]] Status prepare_timing();
  /// Has the device fill memory for about so long, as far as that can be.
  [[nodiscard]] Status keep_busy(double ms);

  Stream stream_;
  std::optional<Event> begin_, end_;  // of the work that is timed; made on first need
  DeviceBuffer busy_;                 // memory that is filled while work is put into the queue
  double busy_ms_ = 0;                // of one fill; 0 where it takes no time or there is no such memory
  double hold_ms_ = kLeastHold;       // the device is kept busy so long for each piece of work

  static constexpr double kLeastHold = 0.004, kMostHold = 0.1;
};

}  // namespace padlock::runtime::cuda
