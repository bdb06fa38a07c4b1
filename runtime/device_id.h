#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/error.h"

namespace padlock::runtime {

enum class DeviceKind : std::uint8_t {
  host,       ///< this machine's CPU
  reference,  ///< the interpreter
  cuda,       ///< an NVIDIA GPU
  simt,       ///< the GPU kernel executed on the host
};

/// Names a device, which may be absent.
struct DeviceId {
  DeviceKind kind = DeviceKind::host;
  int ordinal = 0;  ///< of a GPU

  friend auto operator<=>(const DeviceId&, const DeviceId&) = default;

  /// Reads "host", "reference", "simt" or "cuda:N". Error: invalid_argument, listing these.
  [[nodiscard]] static Result<DeviceId> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
};

}  // namespace padlock::runtime
