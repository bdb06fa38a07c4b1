#pragma once

#include <memory>
#include <string>

#include "tuner/trial_device.h"

namespace padlock::tuner {

/// This machine's CPU, which also runs a GPU's kernels (simt): the target says which.
[[nodiscard]] std::unique_ptr<TrialDevice> make_host_trial(std::string target, int threads);

}  // namespace padlock::tuner
