#include "tuner/measure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/stopwatch.h"

namespace padlock::tuner {
namespace {

constexpr int kFewestSamples = 3;
constexpr double kPicosecondsPerUs = 1e6;
constexpr std::int64_t kMostRepeats = 1'000'000;

/// Warms up, and says how many runs make a sample.
Result<std::int64_t> warm_up(const MeasuringPolicy& policy, const Stopwatch& watch, const TimedRuns& runs) {
  double fastest = 0;
  std::int64_t count = 1;
  do {
    PADLOCK_TRY(const std::int64_t took, runs(count));
    const double one = static_cast<double>(took) / static_cast<double>(count);
    fastest = fastest == 0 ? one : std::min(fastest, one);
    count = std::min<std::int64_t>(2 * count, 64);
  } while (watch.milliseconds() < policy.warm_up_ms);
  const double wanted = policy.sample_us * kPicosecondsPerUs / std::max(fastest, 1.0);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(wanted)), 1, kMostRepeats);
}

bool is_enough(const MeasuringPolicy& policy, const Timing& timing, const Stopwatch& watch) {
  const auto count = static_cast<int>(timing.samples_ps.size());
  if (count + timing.throttled < kFewestSamples) return false;
  if (count + timing.throttled >= policy.max_samples || watch.milliseconds() >= policy.budget_ms) return true;
  return count >= policy.min_samples &&
         static_cast<double>(timing.estimate.half_width) <= policy.noise * static_cast<double>(timing.estimate.median);
}

}  // namespace

MedianEstimate estimate_median(std::span<const std::int64_t> samples) {
  if (samples.empty()) return {};
  std::vector<std::int64_t> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const std::size_t last = sorted.size() - 1;
  const std::int64_t low = sorted[last / 2];
  const std::int64_t high = sorted[(last + 1) / 2];
  // The number of samples below the median is binomial: the interval's ends are the samples 1.96 of its deviations,
  // sqrt(n) / 2, away from the middle (Conover, Practical Nonparametric Statistics, section 3.2).
  const double reach = 0.98 * std::sqrt(static_cast<double>(sorted.size()));
  const double middle = static_cast<double>(last) / 2;
  const auto first = static_cast<std::size_t>(std::max(0.0, std::floor(middle - reach)));
  const auto end = std::min(last, static_cast<std::size_t>(std::ceil(middle + reach)));
  return {.median = low + (high - low) / 2, .half_width = (sorted[end] - sorted[first]) / 2};
}

Result<Timing> measure(const MeasuringPolicy& policy, const TimedRuns& runs, const Throttled& throttled) {
  const Stopwatch watch;
  PADLOCK_TRY(const std::int64_t repeats, warm_up(policy, watch, runs));
  Timing timing;
  std::vector<std::int64_t> discarded;
  bool before = throttled && throttled();
  while (!is_enough(policy, timing, watch)) {
    PADLOCK_TRY(const std::int64_t took, runs(repeats));
    const bool after = throttled && throttled();
    (before || after ? discarded : timing.samples_ps).push_back(took / repeats);
    before = after;
    timing.throttled = static_cast<int>(discarded.size());
    timing.estimate = estimate_median(timing.samples_ps);
  }
  if (timing.samples_ps.size() >= kFewestSamples) return timing;
  timing.samples_ps.insert(timing.samples_ps.end(), discarded.begin(), discarded.end());
  timing.estimate = estimate_median(timing.samples_ps);
  return timing;
}

bool ClockWatch::is_throttled(std::optional<double> clock) {
  if (!clock) return false;
  fastest_ = std::max(fastest_, *clock);
  return *clock < (1 - kThrottled) * fastest_;
}

}  // namespace padlock::tuner
