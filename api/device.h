#pragma once

#include <cstdint>
#include <optional>
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

/// Whether programs can run there now. Error: unavailable, saying what was looked for. Of a GPU, its driver is asked
/// (the file that PADLOCK_CUDA_DRIVER names, else libcuda.so.1); no CUDA context is made.
[[nodiscard]] Status availability(const Device& device);

/// What the driver says of a GPU.
struct GpuInfo {
  std::string name;
  std::string architecture;  ///< "sm_90"
  int multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t memory_bandwidth = 0;  ///< peak, in bytes per second; 0 where the driver does not say
  int driver_version = 0;             ///< the CUDA version that it supports, 1000 * major + 10 * minor
};

/// One line of `padlock devices`.
struct DeviceInfo {
  Device device;
  bool available = false;
  std::string description = {};  ///< what it is, or why it is not available
  std::optional<GpuInfo> gpu = {};
};

/// Every kind of device, available or not: of GPUs each one, or cuda:0 where there is none.
[[nodiscard]] std::vector<DeviceInfo> list_devices();

}  // namespace padlock::api
