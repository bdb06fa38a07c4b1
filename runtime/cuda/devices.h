#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/cuda/driver.h"
#include "support/error.h"

namespace padlock::runtime::cuda {

/// What the driver says of one device.
struct DeviceFacts {
  int ordinal = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int max_grid_x = 0;                  ///< blocks
  int max_block_threads = 0;           ///< threads of one block
  int max_multiprocessor_threads = 0;  ///< resident threads of one multiprocessor
  std::int64_t max_shared_bytes = 0;   ///< shared memory that a block has without asking for more
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  /// Peak bytes per second: memory clock * 2 (double data rate) * bus width. 0 where the driver does not say.
  std::int64_t memory_bandwidth = 0;
  int driver_version = 0;  ///< as Driver::version

  /// "sm_90"
  [[nodiscard]] std::string architecture() const;
};

/// Devices that this process sees (CUDA_VISIBLE_DEVICES applies). Needs no context.
[[nodiscard]] Result<int> device_count(const Driver& driver);

/// Errors: unavailable, for an ordinal that there is not; else as the driver says.
[[nodiscard]] Result<DeviceFacts> device_facts(const Driver& driver, int ordinal);

[[nodiscard]] Result<std::vector<DeviceFacts>> list_devices(const Driver& driver);

}  // namespace padlock::runtime::cuda
