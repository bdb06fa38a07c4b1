#include "tuner/trial/measure.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/stopwatch.h"

namespace padlock::tuner {
namespace {

constexpr int kFewestSamples = 3;
constexpr double kPicosecondsPerUs = 1e6;
constexpr std::int64_t kMostRepeats = 1'000'000;

/// Warms up, and returns how many runs make a sample.
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

/// Returns whether each ratio to the fastest is known well enough. Called only now and then, since it sorts.
bool is_decided(const MeasuringPolicy& policy, std::span<const std::vector<std::int64_t>> lists) {
  const auto count = static_cast<int>(lists.front().size());
  if (count < policy.min_samples || count % 8 != 0) return false;
  const std::vector<std::int64_t>& fastest = lists[fastest_of(lists)];
  return std::ranges::all_of(lists, [&](const std::vector<std::int64_t>& samples) {
    const MedianEstimate ratio = paired_ratio(samples, fastest);
    return static_cast<double>(ratio.half_width) <= policy.noise * static_cast<double>(ratio.median);
  });
}

}  // namespace

MedianEstimate estimate_median(std::span<const std::int64_t> samples) {
  if (samples.empty()) return {};
  std::vector<std::int64_t> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  const std::size_t last = sorted.size() - 1;
  const std::int64_t low = sorted[last / 2];
  const std::int64_t high = sorted[(last + 1) / 2];
  // The number of samples below the median is binomial. The interval's ends are the samples 1.96 standard deviations,
  // sqrt(n) / 2 each, from the middle (Conover, Practical Nonparametric Statistics, section 3.2).
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

std::int64_t lower_quartile(std::vector<std::int64_t> samples) {
  if (samples.empty()) return 0;
  const auto quartile = samples.begin() + std::ssize(samples) / 4;
  std::ranges::nth_element(samples, quartile);
  return *quartile;
}

std::size_t fastest_of(std::span<const std::vector<std::int64_t>> lists) {
  const auto fastest = std::ranges::min_element(lists, {}, [](const auto& samples) { return lower_quartile(samples); });
  return static_cast<std::size_t>(fastest - lists.begin());
}

MedianEstimate paired_ratio(std::span<const std::int64_t> samples, std::span<const std::int64_t> to) {
  std::vector<std::int64_t> ratios(std::min(samples.size(), to.size()));
  for (std::size_t i = 0; i < ratios.size(); ++i)
    ratios[i] = static_cast<std::int64_t>(1e6 * static_cast<double>(samples[i]) /
                                          static_cast<double>(std::max<std::int64_t>(to[i], 1)));
  return estimate_median(ratios);
}

Result<RaceTiming> measure_in_turn(const MeasuringPolicy& policy, std::span<const TimedRuns> runs,
                                   const Throttled& throttled) {
  const Stopwatch watch;
  std::vector<std::int64_t> repeats;
  for (const TimedRuns& each : runs) {
    const Stopwatch warming;
    PADLOCK_TRY(const std::int64_t count, warm_up(policy, warming, each));
    repeats.push_back(count);
  }
  const double budget_ms = policy.budget_ms * static_cast<double>(runs.size());
  RaceTiming race{.samples_ps = std::vector<std::vector<std::int64_t>>(runs.size())};
  std::vector<std::vector<std::int64_t>> discarded = race.samples_ps;
  std::vector<std::int64_t> round(runs.size());
  bool before = throttled && throttled();
  for (int number = 0; number < policy.max_samples; ++number) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t at = (i + static_cast<std::size_t>(number)) % runs.size();
      PADLOCK_TRY(const std::int64_t took, runs[at](repeats[at]));
      round[at] = took / repeats[at];
    }
    const bool after = throttled && throttled();
    auto& into = before || after ? discarded : race.samples_ps;
    for (std::size_t i = 0; i < runs.size(); ++i) into[i].push_back(round[i]);
    before = after;
    race.throttled = static_cast<int>(discarded.front().size());
    if (number + 1 >= kFewestSamples && watch.milliseconds() >= budget_ms) break;
    if (is_decided(policy, race.samples_ps)) break;
  }
  if (race.samples_ps.front().size() >= kFewestSamples) return race;
  for (std::size_t i = 0; i < runs.size(); ++i)
    race.samples_ps[i].insert(race.samples_ps[i].end(), discarded[i].begin(), discarded[i].end());
  return race;
}

bool ClockWatch::is_throttled(std::optional<double> clock) {
  if (!clock) return false;
  fastest_ = std::max(fastest_, *clock);
  return *clock < (1 - kThrottled) * fastest_;
}

}  // namespace padlock::tuner
