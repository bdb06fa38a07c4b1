#pragma once

#include <memory>
#include <string>

#include "bench/gpu/device.h"
#include "ir/executable.h"

// What the two devices share.
namespace padlock::bench::gpu {

/// Error: internal, where the contract is not of one input, one result and no scalars.
[[nodiscard]] Status check_contract(const ir::KernelAbi& abi);

}  // namespace padlock::bench::gpu
