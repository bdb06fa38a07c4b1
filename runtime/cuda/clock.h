#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/cuda/driver/driver.h"

namespace padlock::runtime::cuda {

/// Reads the clock of a device's multiprocessors with NVIDIA's management library, which comes with the driver and is
/// loaded on demand. Not thread-safe.
class DeviceClock {
 public:
  static constexpr const char* kDefaultFile = "libnvidia-ml.so.1";

  /// Returns null if the library is missing or does not know the device.
  [[nodiscard]] static std::unique_ptr<DeviceClock> open(const Driver& driver, int ordinal,
                                                         const std::string& file = kDefaultFile);
  ~DeviceClock();

  /// In MHz; nullopt if it cannot be read now.
  [[nodiscard]] std::optional<double> megahertz() const;

 private:
  struct Library;
  DeviceClock(std::unique_ptr<const Library> library, void* device);
  std::unique_ptr<const Library> library_;
  void* device_;  // the library's handle
};

}  // namespace padlock::runtime::cuda
