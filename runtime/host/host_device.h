#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "runtime/device.h"
#include "runtime/host/host_memory.h"

namespace padlock::runtime {

/// A device that uses the host's memory: all except GPUs.
class HostMemoryDevice : public Device {
 public:
  [[nodiscard]] DeviceFacts facts() const override;
  [[nodiscard]] Status check_target(const std::string& target) const override;
  [[nodiscard]] Result<std::int64_t> free_bytes() const override;
  [[nodiscard]] Result<std::unique_ptr<DeviceMemory>> allocate(std::int64_t bytes,
                                                               const std::string& what) const override;
  [[nodiscard]] Result<std::unique_ptr<ScratchSpace>> make_scratch_space() const override;
  [[nodiscard]] Result<std::unique_ptr<Queue>> make_queue() const override;
  [[nodiscard]] std::optional<double> clock() const override;

 protected:
  HostMemoryDevice(DeviceTraits traits, std::shared_ptr<HostMemory> memory)
      : Device(std::move(traits)), memory_(std::move(memory)) {}

 private:
  std::shared_ptr<HostMemory> memory_;  // shared with allocations
};

}  // namespace padlock::runtime
