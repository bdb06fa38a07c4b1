#pragma once

#include <memory>

#include "support/error.h"
#include "tuner/trial_device.h"

namespace padlock::tuner {

/// A GPU. Errors: unavailable, naming what is missing; else as its driver says.
[[nodiscard]] Result<std::unique_ptr<TrialDevice>> open_gpu_trial(int ordinal);

}  // namespace padlock::tuner
