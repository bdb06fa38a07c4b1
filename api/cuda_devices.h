#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/device.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/devices.h"
#include "support/error.h"

// Private to this folder.
namespace padlock::api {

/// The driver, once it is known to have that device. Error: unavailable, naming the device and saying what was looked
/// for or what the driver says.
[[nodiscard]] Result<std::shared_ptr<const runtime::cuda::Driver>> find_driver(const Device& device);

/// The newest known architecture whose code that device runs without translation between generations: the largest of
/// the same major version. Error: unavailable, listing the known ones.
[[nodiscard]] Result<std::string> target_for(const runtime::cuda::DeviceFacts& facts);

/// Whether the device runs code made for a known architecture: of its own version or an older one.
/// Error: invalid_argument, naming both.
[[nodiscard]] Status check_runs(const runtime::cuda::DeviceFacts& facts, const std::string& target);

/// A GPU in use. Immutable.
struct CudaDevice {
  runtime::cuda::DeviceFacts facts;
  std::string target;                                     ///< what code for it is made for
  std::unique_ptr<const runtime::cuda::Context> context;  ///< its primary one, retained, or the caller's
};

/// The GPUs that one api::Context uses, each opened on first need and kept. Thread-safe.
class CudaDevices {
 public:
  /// `borrowed`: a caller's CUcontext, which serves its device instead of the primary one; null: there is none.
  explicit CudaDevices(void* borrowed) : borrowed_(borrowed) {}
  /// The device, which lives as long as this. Errors: as find_driver and target_for; else as the driver says.
  [[nodiscard]] Result<const CudaDevice*> open(const Device& device);

 private:
  void* const borrowed_;  // outlives this
  std::mutex mutex_;
  std::map<int, CudaDevice> devices_;  // by ordinal; guarded by mutex_
};

}  // namespace padlock::api
