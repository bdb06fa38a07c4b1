#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/statistics.h"

namespace padlock {

/// A contestant: one implementation of the timed job.
struct Contestant {
  std::string name;
  std::function<void()> run;  ///< does the job once, on data that is already in place
  /// Replaces `run` for jobs in another process, with its own clock. Returns the milliseconds of so many calls, or
  /// nullopt if it cannot continue, which excludes the contestant.
  std::function<std::optional<double>(int calls)> time_ms = {};
  std::string rival = {};  ///< name of the contestant it is compared with (TimingOptions::beaten_ratio); empty: none
};

struct TimingOptions {
  int rounds = 31;       ///< samples of each contestant
  int least_rounds = 3;  ///< least samples of each contestant, whatever the budget
  /// Drops a contestant after least_rounds if its best sample took this many times its rival's worst, so that the
  /// remaining rounds go to close contestants. 0: drops none.
  double beaten_ratio = 0;
  /// Least rounds, whatever the budget, for a contestant that is close to its rival. It continues, up to `rounds`,
  /// until the interval of its ratio to the rival is no wider than close_interval times the ratio, or lies wholly above
  /// 1.25 or below 0.8. Both rules are the same whichever of the two is ahead.
  int close_rounds = 0;
  double close_interval = 1;
  double budget_ms = 0;     ///< time of all rounds together, after which no new round begins; 0: no limit
  double warm_up_ms = 100;  ///< time per contestant before samples count
  double sample_ms = 2;     ///< a faster contestant runs several times per sample; each runs once before the sample
  std::uint64_t seed = 1;   ///< for the order within a round and for the bootstrap
};

/// Times of one contestant.
struct TimedRow {
  std::string name;
  double median_ms = 0;  ///< median time of one run
  Estimate ratio;        ///< ratio of its time to the baseline's, paired by round; 1 for the baseline itself
  double gb_per_s = 0;   ///< from median_ms; 0 where the comparison has no bytes
  std::vector<double> samples_ms;
};

struct Comparison {
  std::string title;
  double bytes = 0;            ///< bytes that one run reads and writes; 0 if they do not describe the work
  std::vector<TimedRow> rows;  ///< the baseline, the baseline again, then the others in their order

  /// Returns the row of that name, or null.
  [[nodiscard]] const TimedRow* find(std::string_view name) const;
};

/// Times the contestants side by side. In every round each takes a sample, in a newly shuffled order, so that a change
/// of the machine's speed affects all alike. Ratios are paired by the rounds in which both took part. The first
/// contestant is the baseline, and takes part twice. The second row, "NAME again", differs from the first by noise
/// alone, so a ratio within its interval means nothing. An excluded contestant has no row. Not thread-safe: two
/// comparisons at once would disturb each other. Without contestants there are no rows.
[[nodiscard]] Comparison compare(std::string title, double bytes, const std::vector<Contestant>& contestants,
                                 const TimingOptions& options);

/// Estimates how many times as fast `row` is as `other`, of the same comparison: paired by round, with an interval.
[[nodiscard]] Estimate speed_ratio(const TimedRow& row, const TimedRow& other, std::uint64_t seed);

}  // namespace padlock
