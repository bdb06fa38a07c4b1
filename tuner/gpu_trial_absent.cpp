// A build without CUDA has no GPU to try anything on.

#include "runtime/cuda/driver.h"
#include "tuner/gpu_trial.h"

namespace padlock::tuner {

Result<std::unique_ptr<TrialDevice>> open_gpu_trial(int) {
  return std::unexpected(runtime::cuda::Driver::find().error());
}

}  // namespace padlock::tuner
