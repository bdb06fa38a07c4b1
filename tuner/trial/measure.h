#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "support/error.h"
#include "tuner/trial/request.h"

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
  int throttled = 0;  ///< samples that were discarded
};

/// Runs `count` times and gives the picoseconds that it took.
using TimedRuns = std::function<Result<std::int64_t>(std::int64_t count)>;

/// Returns whether the device is slower now than it can be.
using Throttled = std::function<bool()>;

/// Warms up, then takes samples until the policy's noise is reached, its most samples are taken or its budget is spent;
/// never fewer than three. How often a sample repeats a run follows from the warm-up. A sample before or after which
/// the device is throttled is discarded; if the budget ends with fewer than three others, they count like the others,
/// and `throttled` is their number. Errors are those of `runs`.
[[nodiscard]] Result<Timing> measure(const MeasuringPolicy& policy, const TimedRuns& runs,
                                     const Throttled& throttled = {});

/// Several measured in turn.
struct RaceTiming {
  std::vector<std::vector<std::int64_t>> samples_ps;  // of each the same number, the i-th of all from round i
  int throttled = 0;                                  ///< rounds that were discarded
};

/// Warms each up, then times them round by round, each once a round and the first another one each time, so that what
/// changes on the machine changes for all. Ends when each config's median ratio to the fastest is known to the
/// policy's noise, at the most samples, or with the budget. Throttled rounds and errors as
/// `measure`.
[[nodiscard]] Result<RaceTiming> measure_in_turn(const MeasuringPolicy& policy, std::span<const TimedRuns> runs,
                                                 const Throttled& throttled = {});

/// The median of the ratios of two lists of samples, pair by pair, in millionths.
[[nodiscard]] MedianEstimate paired_ratio(std::span<const std::int64_t> samples, std::span<const std::int64_t> to);

/// Returns the index of the list to compare the others with, among lists of as many samples: that of the least lower
/// quartile, for what else runs on a machine makes samples longer, never shorter. There is one at least.
[[nodiscard]] std::size_t fastest_of(std::span<const std::vector<std::int64_t>> lists);
/// 0 of no samples.
[[nodiscard]] std::int64_t lower_quartile(std::vector<std::int64_t> samples);

/// Compares readings of a device's clock, in any unit, with the fastest of them.
class ClockWatch {
 public:
  /// Slower than the fastest so far by more than kThrottled. What cannot be read is not throttled.
  [[nodiscard]] bool is_throttled(std::optional<double> clock);

  /// More than the steps between which a CPU that nothing is wrong with goes up and down all the time.
  static constexpr double kThrottled = 0.15;

 private:
  double fastest_ = 0;
};

}  // namespace padlock::tuner
