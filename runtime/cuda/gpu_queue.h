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
  /// Lets the device fill memory for about `ms` milliseconds, if possible.
  [[nodiscard]] Status keep_busy(double ms);

  Stream stream_;
  std::optional<Event> begin_, end_;  // begin and end of the timed work; made at first use
  DeviceBuffer busy_;                 // memory to fill while work is queued
  double busy_ms_ = 0;                // milliseconds of one fill; 0: fills take no time, or there is no such memory
  double hold_ms_ = kLeastHold;       // how long the device is kept busy for each piece of work

  static constexpr double kLeastHold = 0.004, kMostHold = 0.1;
};

}  // namespace padlock::runtime::cuda
