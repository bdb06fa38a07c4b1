#pragma once

#include <cstdint>
#include <span>

#include "runtime/cuda/module.h"
#include "runtime/cuda/stream.h"

namespace padlock::runtime::cuda {

/// Blocks and threads of a launch. Only x is used: y and z are limited to 65535 blocks.
struct LaunchShape {
  unsigned grid_x = 0;        ///< blocks, below 2^31
  unsigned block_x = 0;       ///< threads of a block
  unsigned shared_bytes = 0;  ///< dynamic shared memory of a block
  bool waits = false;         ///< the kernel itself waits for the work before it (abi::KernelAbi::waits)
};

/// Queues a kernel on a stream of the same context. `parameters`: all of the kernel's, as 64-bit words in its order;
/// copied before this returns. Allocates nothing, waits for nothing, and is legal while the stream is captured. Makes
/// one driver call, none for an empty grid: cuLaunchKernel, or cuLaunchKernelEx for a kernel that waits, if the driver
/// has it, so that the kernel starts during the work before it. Thread-safe. Errors name the kernel: as the driver
/// says, including those of earlier work (a lost device). Faults of this kernel show at a later call.
[[nodiscard]] Status launch(const ContextScope& current, const Function& function, const LaunchShape& shape,
                            std::span<const std::uint64_t> parameters, const Stream& stream);

/// The same without a current context: two driver calls if the function's context is current (cuCtxGetCurrent first),
/// else four (also cuCtxPushCurrent and cuCtxPopCurrent).
[[nodiscard]] Status launch(const Function& function, const LaunchShape& shape,
                            std::span<const std::uint64_t> parameters, const Stream& stream);

}  // namespace padlock::runtime::cuda
