#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bench/gpu/device.h"
#include "ir/executable.h"

// What the two devices share.
namespace padlock::bench::gpu {

class Stopwatch {
 public:
  [[nodiscard]] double ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Error: internal, where the contract is not of one input, one result and no scalars.
[[nodiscard]] Status check_contract(const ir::KernelAbi& abi);

}  // namespace padlock::bench::gpu
