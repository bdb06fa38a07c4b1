#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "support/error.h"
#include "tuner/trial/request.h"

namespace padlock::tuner {

/// The median of samples and its uncertainty.
struct MedianEstimate {
  std::int64_t median = 0;
  std::int64_t half_width = 0;  ///< half the 95 % interval, from order statistics, which assume nothing about the noise
};
/// All 0 without samples.
[[nodiscard]] MedianEstimate estimate_median(std::span<const std::int64_t> samples);

struct Timing {
  std::vector<std::int64_t> samples_ps;  // one sample per run
  MedianEstimate estimate;
  int throttled = 0;  ///< samples that were discarded
};

/// Runs `count` times and returns the picoseconds that this took.
using TimedRuns = std::function<Result<std::int64_t>(std::int64_t count)>;

/// Returns whether the device is slower now than it can be.
using Throttled = std::function<bool()>;

/// Warms up, then takes samples until the policy's noise, its most samples or its budget is reached; at least three.
/// The warm-up decides how often a sample repeats a run. Samples next to a throttled moment are discarded. If the
/// budget ends with fewer than three others, discarded samples count, too, and `throttled` is their number. Errors are
/// those of `runs`.
[[nodiscard]] Result<Timing> measure(const MeasuringPolicy& policy, const TimedRuns& runs,
                                     const Throttled& throttled = {});

/// Timings of several configs, measured in turn.
struct RaceTiming {
  std::vector<std::vector<std::int64_t>> samples_ps;  // equally many for each, the i-th of all from round i
  int throttled = 0;                                  ///< rounds that were discarded
};

/// Warms each up, then times them round by round: each once a round, with another one first each time, so that drift of
/// the machine affects all. Ends when each median ratio to the fastest is known to the policy's noise, at the most
/// samples, or with the budget. Throttled rounds and errors as `measure`.
[[nodiscard]] Result<RaceTiming> measure_in_turn(const MeasuringPolicy& policy, std::span<const TimedRuns> runs,
                                                 const Throttled& throttled = {});

/// Returns the median of the pairwise ratios of two lists of samples, in millionths.
[[nodiscard]] MedianEstimate paired_ratio(std::span<const std::int64_t> samples, std::span<const std::int64_t> to);

/// Returns the index of the list to compare the others with: the one of the least lower quartile, since other load
/// makes samples longer, never shorter. Preconditions: one list or more, equally long.
[[nodiscard]] std::size_t fastest_of(std::span<const std::vector<std::int64_t>> lists);
/// 0 without samples.
[[nodiscard]] std::int64_t lower_quartile(std::vector<std::int64_t> samples);

/// Compares readings of a device's clock, in any unit, with the fastest of them.
class ClockWatch {
 public:
  /// Returns whether a reading is slower than the fastest so far by more than kThrottled. False for a missing reading.
  [[nodiscard]] bool is_throttled(std::optional<double> clock);

  /// Above the steps by which a healthy CPU's clock goes up and down all the time.
  static constexpr double kThrottled = 0.15;

 private:
  double fastest_ = 0;
};

}  // namespace padlock::tuner
