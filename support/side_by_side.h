#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/statistics.h"

namespace padlock {

/// One way to do the job that is timed.
struct Contestant {
  std::string name;
  std::function<void()> run;  ///< does it once, on data that is already there
  /// Instead of `run`, for what runs elsewhere and has a clock of its own: the milliseconds that so many calls took;
  /// nothing once it can do no more, which leaves it out.
  std::function<std::optional<double>(int calls)> time_ms = {};
  std::string rival = {};  ///< the name of whom it is judged against: see TimingOptions::beaten_ratio; empty: nobody
};

struct TimingOptions {
  int rounds = 31;       ///< samples of each contestant
  int least_rounds = 3;  ///< whatever the budget says
  /// A contestant whose best of least_rounds samples is so many times its rival's worst takes part in no more: they go
  /// to those who are close to each other; 0: everybody takes part in all.
  double beaten_ratio = 0;
  /// Rounds, whatever the budget says, of who has a rival and is close to it; and more, up to `rounds`, until the
  /// interval of its ratio to the rival is no wider than close_interval of the ratio, or all of it is above 1.25 or
  /// below 0.8. Neither asks who of the two is ahead.
  int close_rounds = 0;
  double close_interval = 1;
  double budget_ms = 0;     ///< of all rounds together, after which none begins; 0: no limit
  double warm_up_ms = 100;  ///< of each contestant, before anything counts
  double sample_ms = 2;     ///< a contestant that is faster runs several times a sample; each runs once before it
  std::uint64_t seed = 1;   ///< of the order within a round and of the bootstrap
};

/// What one contestant took.
struct TimedRow {
  std::string name;
  double median_ms = 0;  ///< of one run
  Estimate ratio;        ///< of its time to the baseline's, paired by round; 1 of the baseline itself
  double gb_per_s = 0;   ///< from median_ms; 0 where the comparison has no bytes
  std::vector<double> samples_ms;
};

struct Comparison {
  std::string title;
  double bytes = 0;            ///< that one run reads and writes; 0 where bytes say nothing
  std::vector<TimedRow> rows;  ///< the baseline, the baseline again, then the others in their order

  /// Null where there is none of that name.
  [[nodiscard]] const TimedRow* find(std::string_view name) const;
};

/// Times the contestants side by side: in every round each takes a sample, in an order shuffled anew, so that a change
/// of the machine's speed meets all alike; ratios are paired by the rounds in which both took part. The first is the
/// baseline. It takes part twice: the second row, "NAME again", differs from the first by the harness's own noise
/// alone, and a ratio within that row's interval means nothing. Who drops out has no row. Not thread-safe against
/// itself (times would mean nothing). No contestants give no rows.
[[nodiscard]] Comparison compare(std::string title, double bytes, const std::vector<Contestant>& contestants,
                                 const TimingOptions& options);

/// How many times as fast `row` is as `other`, of the same comparison: paired by round, with its interval.
[[nodiscard]] Estimate speed_ratio(const TimedRow& row, const TimedRow& other, std::uint64_t seed);

}  // namespace padlock
