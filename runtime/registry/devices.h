#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device.h"
#include "runtime/device_family.h"
#include "support/error.h"

namespace padlock::runtime {

/// The devices that one user has, each opened on first need and kept. Thread-safe. Leaves the calling thread's current
/// CUDA context as it was.
class Devices {
 public:
  explicit Devices(const DeviceOptions& options);
  /// The device, which lives as long as this. Errors: unavailable, naming the device and saying what was looked for or
  /// what its driver says; else as the driver says.
  [[nodiscard]] Result<const Device*> open(const DeviceId& id);

  /// Checks that programs can run there now. Error: unavailable, saying what was looked for. For a GPU, asks its driver
  /// (the file that PADLOCK_CUDA_DRIVER names, else libcuda.so.1); makes no CUDA context.
  [[nodiscard]] static Status check(const DeviceId& id);
  /// Every kind of device, available or not: of GPUs each one, or cuda:0 where there is none.
  [[nodiscard]] static std::vector<DeviceInfo> list();

 private:
  const DeviceOptions options_;
  const std::shared_ptr<HostMemory> memory_;  // shared with memory that outlives this
  std::mutex mutex_;
  std::map<DeviceId, std::unique_ptr<const Device>> devices_;  // guarded by mutex_
};

}  // namespace padlock::runtime
