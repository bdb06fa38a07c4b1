#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "bench/gpu/device.h"
#include "ir/launch_plan.h"
#include "ir/program.h"
#include "runtime/arguments.h"

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

/// A binding with all that a launch needs of it. Borrows the program.
struct BoundSizes {
  ir::LaunchPlan plan;
  runtime::ArgumentSizes arguments;

  [[nodiscard]] static Result<BoundSizes> of(const ir::Binder& binder, const ir::KernelAbi& abi,
                                             const ir::BindRequest& request);
};

/// Error: internal, where the contract is not of one input, one result and no scalars.
[[nodiscard]] Status check_contract(const ir::KernelAbi& abi);

}  // namespace padlock::bench::gpu
