#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::api {

enum class DeviceKind : std::uint8_t {
  host,       ///< this machine's CPU
  reference,  ///< the interpreter
  cuda,       ///< an NVIDIA GPU
  simt,       ///< the GPU kernel executed on the host
};

/// Where code runs.
struct Device {
  DeviceKind kind = DeviceKind::host;
  int ordinal = 0;  ///< of a GPU

  /// Reads "host", "reference", "simt" or "cuda:N". Error: invalid_argument, listing these.
  [[nodiscard]] static Result<Device> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
};

/// Whether programs can run there now. Error: unavailable, saying what was looked for.
[[nodiscard]] Status availability(const Device& device);

/// One line of `padlock devices`.
struct DeviceInfo {
  Device device;
  bool available = false;
  std::string description;  ///< what it is, or why it is not available
};

/// Every kind of device, available or not.
[[nodiscard]] std::vector<DeviceInfo> list_devices();

}  // namespace padlock::api
