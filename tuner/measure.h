#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "support/error.h"
#include "tuner/request.h"

namespace padlock::tuner {

/// The median of samples and how far it can be trusted.
struct MedianEstimate {
  std::int64_t median = 0;
  std::int64_t half_width = 0;  ///< half the 95 % interval, from order statistics: nothing is assumed of the noise
};
/// All 0 of no samples.
[[nodiscard]] MedianEstimate estimate_median(std::span<const std::int64_t> samples);

struct Timing {
  std::vector<std::int64_t> samples_ps;  // of one run each
  MedianEstimate estimate;
};

/// Runs `count` times and gives the picoseconds that it took.
using TimedRuns = std::function<Result<std::int64_t>(std::int64_t count)>;

/// Warms up, then takes samples until the policy's noise is reached, its most samples are taken or its budget is spent;
/// never fewer than three. How often a sample repeats a run follows from the warm-up. Errors are those of `runs`.
[[nodiscard]] Result<Timing> measure(const MeasuringPolicy& policy, const TimedRuns& runs);

}  // namespace padlock::tuner
