#pragma once

#include <cstdint>
#include <string>

namespace padlock::runtime {

/// An NVIDIA GPU, as its driver describes it.
struct GpuFacts {
  int ordinal = 0;
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int max_grid_x = 0;                 ///< blocks
  int max_block_threads = 0;          ///< threads of one block
  std::int64_t max_shared_bytes = 0;  ///< shared memory that a block has without a request for more
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  /// Peak bytes per second: memory clock * 2 (double data rate) * bus width. 0 if the driver does not say.
  std::int64_t memory_bandwidth = 0;
  int driver_version = 0;  ///< the CUDA version that it supports, 1000 * major + 10 * minor

  /// "sm_90"
  [[nodiscard]] std::string architecture() const {
    return "sm_" + std::to_string(compute_major) + std::to_string(compute_minor);
  }
};

}  // namespace padlock::runtime
