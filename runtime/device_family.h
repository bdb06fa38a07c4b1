#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device.h"
#include "runtime/parallel_for.h"

// Declares what devices.cpp registers in a build.
namespace padlock::runtime {

class HostMemory;

struct DeviceOptions {
  ParallelFor parallel_for = {};  ///< spreads a launch on the host over threads; borrowed
  /// A caller's CUcontext, borrowed, used for its device instead of the primary one; null: none.
  void* cuda_context = nullptr;
};

/// A device that may be present.
struct DeviceInfo {
  DeviceId id;
  bool available = false;
  std::string description = {};  ///< a description, or why it is not available
  std::optional<GpuFacts> gpu = {};
};

/// Prints a number of bytes for a description: "512 KiB", "50 MiB".
[[nodiscard]] std::string size_text(std::int64_t bytes);

/// The devices of one kind.
struct DeviceFamily {
  DeviceKind kind;
  /// Error: unavailable, naming the device, with what was looked for.
  Result<std::unique_ptr<const Device>> (*open)(const DeviceId& id, const DeviceOptions& options,
                                                const std::shared_ptr<HostMemory>& memory);
  /// As Devices::check.
  Status (*check)(const DeviceId& id);
  std::vector<DeviceInfo> (*list)();
};

[[nodiscard]] const DeviceFamily& host_family();
[[nodiscard]] const DeviceFamily& simt_family();
[[nodiscard]] const DeviceFamily& reference_family();
namespace cuda {
[[nodiscard]] const DeviceFamily& gpu_family();
}  // namespace cuda

}  // namespace padlock::runtime
