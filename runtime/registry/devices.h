#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/device.h"
#include "runtime/device_family.h"
#include "support/error.h"

namespace padlock::runtime {

/// The devices of one user, each opened on first need and kept. Thread-safe. Restores the calling thread's current CUDA
/// context.
class Devices {
 public:
  explicit Devices(const DeviceOptions& options);
  /// Returns the device, which lives as long as this. Errors: unavailable, naming the device, with what was looked for
  /// or its driver's message; else as the driver says.
  [[nodiscard]] Result<const Device*> open(const DeviceId& id);

  /// Checks that programs can run on the device now. Error: unavailable, with what was looked for. For a GPU, asks its
  /// driver (the file in PADLOCK_CUDA_DRIVER, else libcuda.so.1); makes no CUDA context.
  [[nodiscard]] static Status check(const DeviceId& id);
  /// Lists every kind of device, available or not. Lists each GPU, or cuda:0 if there is none.
  [[nodiscard]] static std::vector<DeviceInfo> list();

 private:
  const DeviceOptions options_;
  const std::shared_ptr<HostMemory> memory_;  // shared with memory that outlives this
  std::mutex mutex_;
  std::map<DeviceId, std::unique_ptr<const Device>> devices_;  // guarded by mutex_
};

}  // namespace padlock::runtime
