#pragma once

#include <vector>

#include "runtime/cuda/driver/driver.h"
#include "runtime/gpu_facts.h"
#include "support/error.h"

namespace padlock::runtime::cuda {

/// Returns the number of devices that this process sees (CUDA_VISIBLE_DEVICES applies). Needs no context.
[[nodiscard]] Result<int> device_count(const Driver& driver);

/// Errors: unavailable for a missing ordinal; else as the driver says.
[[nodiscard]] Result<GpuFacts> device_facts(const Driver& driver, int ordinal);

[[nodiscard]] Result<std::vector<GpuFacts>> list_devices(const Driver& driver);

}  // namespace padlock::runtime::cuda
