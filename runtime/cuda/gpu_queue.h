#pragma once

#include <optional>

#include "runtime/cuda/event.h"
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
  [[nodiscard]] Result<std::int64_t> time(const std::function<Status()>& work) override;

 private:
  Stream stream_;
  std::optional<Event> begin_, end_;  // of the work that is timed; made on first need
};

}  // namespace padlock::runtime::cuda
