#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/statistics.h"

namespace padlock {

/// A contestant: one way to do the timed job.
struct Contestant {
  std::string name;
  std::function<void()> run;  ///< does the job once, on data that is already there
  /// Replaces `run` for jobs that run elsewhere and have a clock of their own: returns the milliseconds that so many
  /// calls took, or nullopt if it can run no more, which excludes the contestant.
  std::function<std::optional<double>(int calls)> time_ms = {};
  std::string rival = {};  ///< name of the contestant it is compared with: see TimingOptions::beaten_ratio; empty: none
};

struct TimingOptions {
  int rounds = 31;       ///< samples of each contestant
  int least_rounds = 3;  ///< least samples of each contestant, whatever the budget
  /// Drops a contestant after least_rounds if its best sample took this many times its rival's worst, so that the other
  /// rounds go to contestants that are close to each other; 0: drops none.
  double beaten_ratio = 0;
  /// Least rounds, whatever the budget, of a contestant that has a rival and is close to it. It continues, up to
  /// `rounds`, until the interval of its ratio to the rival is no wider than close_interval times the ratio, or lies
  /// wholly above 1.25 or below 0.8. Neither depends on which of the two is ahead.
  int close_rounds = 0;
  double close_interval = 1;
  double budget_ms = 0;     ///< time of all rounds together, after which none begins; 0: no limit
  double warm_up_ms = 100;  ///< time of each contestant before samples count
  double sample_ms = 2;     ///< a contestant that is faster runs several times a sample; each runs once before it
  std::uint64_t seed = 1;   ///< of the order within a round and of the bootstrap
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
  double bytes = 0;            ///< bytes that one run reads and writes; 0 where they say nothing
  std::vector<TimedRow> rows;  ///< the baseline, the baseline again, then the others in their order

  /// Returns the row of that name, or null.
  [[nodiscard]] const TimedRow* find(std::string_view name) const;
};

/// Times the contestants side by side: in every round each takes a sample, in an order shuffled anew, so that a change
/// of the machine's speed affects all alike; ratios are paired by the rounds in which both took part. The first is the
/// baseline. It takes part twice: the second row, "NAME again", differs from the first by the harness's own noise
/// alone, and a ratio within that row's interval means nothing. An excluded contestant has no row. Not thread-safe
/// against itself (times would mean nothing). Without contestants there are no rows.
[[nodiscard]] Comparison compare(std::string title, double bytes, const std::vector<Contestant>& contestants,
                                 const TimingOptions& options);

/// Estimates how many times as fast `row` is as `other`, of the same comparison: paired by round, with its interval.
[[nodiscard]] Estimate speed_ratio(const TimedRow& row, const TimedRow& other, std::uint64_t seed);

}  // namespace padlock
