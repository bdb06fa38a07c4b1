#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/cuda/driver/driver.h"

namespace padlock::runtime::cuda {

/// Reads the clock of a device's multiprocessors with NVIDIA's management library, which comes with the driver and is
/// asked for when it is needed. Not thread-safe.
class DeviceClock {
 public:
  static constexpr const char* kDefaultFile = "libnvidia-ml.so.1";

  /// Null where there is no such library, or it does not know the device.
  [[nodiscard]] static std::unique_ptr<DeviceClock> open(const Driver& driver, int ordinal,
                                                         const std::string& file = kDefaultFile);
  ~DeviceClock();

  /// MHz; nothing where it cannot be read now.
  [[nodiscard]] std::optional<double> megahertz() const;

 private:
  struct Library;
  DeviceClock(std::unique_ptr<const Library> library, void* device);
  std::unique_ptr<const Library> library_;
  void* device_;  // the library's handle
};

}  // namespace padlock::runtime::cuda
