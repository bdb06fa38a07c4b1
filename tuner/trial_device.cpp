#include "tuner/trial_device.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "tuner/gpu_trial.h"
#include "tuner/host_trial.h"

namespace padlock::tuner {

Result<std::unique_ptr<TrialDevice>> TrialDevice::open(const std::string& device, const std::string& target,
                                                       int threads) {
  if (device == "host" && target.empty()) return make_host_trial("host", threads);
  if (device == "simt") return make_host_trial(target.empty() ? compiler::kDefaultGpuTarget : target, threads);
  constexpr std::string_view kCuda = "cuda:";
  if (device.starts_with(kCuda) && target.empty()) {
    int ordinal = 0;
    const char* const last = device.data() + device.size();
    const auto [end, error] = std::from_chars(device.data() + kCuda.size(), last, ordinal);
    if (error == std::errc{} && end == last && ordinal >= 0) return open_gpu_trial(ordinal);
  }
  return invalid_argument(
      fmt::format("expected a device to tune for (host, simt with or without a target, cuda:0, ...), found '{}'{}",
                  device, target.empty() ? "" : " with target " + target));
}

}  // namespace padlock::tuner
