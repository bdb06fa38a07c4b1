#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/module.h"
#include "runtime/cuda/stream.h"

namespace padlock::runtime::cuda {

/// Blocks and threads of a launch. Only x is used: y and z stop at 65535 blocks.
struct LaunchShape {
  unsigned grid_x = 0;        ///< blocks, below 2^31
  unsigned block_x = 0;       ///< threads of a block
  unsigned shared_bytes = 0;  ///< dynamic shared memory of a block
  bool waits = false;         ///< the kernel itself waits for the work before it (abi::KernelAbi::waits)
};

/// Queues a kernel on a stream of the same context. `parameters`: the kernel's, all of them 64-bit words, in its
/// order; copied before this returns. Allocates nothing, waits for nothing, is legal while the stream is captured, and
/// makes exactly one driver call, none for an empty grid: cuLaunchKernel, or, for a kernel that waits,
/// cuLaunchKernelEx, where the driver has it, so that the kernel is launched while the work before it runs.
/// Thread-safe. Errors name the kernel: as the driver says, among them those of earlier work (a lost device); what this
/// kernel does wrong shows at a later call.
[[nodiscard]] Status launch(const ContextScope& current, const Function& function, const LaunchShape& shape,
                            std::span<const std::uint64_t> parameters, const Stream& stream);

/// The same where the function's context need not be current: two driver calls if it is (cuCtxGetCurrent first), four
/// if it is not (then also cuCtxPushCurrent and cuCtxPopCurrent).
[[nodiscard]] Status launch(const Function& function, const LaunchShape& shape,
                            std::span<const std::uint64_t> parameters, const Stream& stream);

}  // namespace padlock::runtime::cuda
