#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/statistics.h"

namespace padlock::bench {

/// One way to do the job that is timed. `run` does it once, on data that is already there.
struct Contestant {
  std::string name;
  std::function<void()> run;
};

struct Options {
  int rounds = 31;          ///< samples of each contestant
  double warm_up_ms = 100;  ///< of each contestant, before anything counts
  double sample_ms = 2;     ///< a contestant that is faster runs several times a sample
  std::uint64_t seed = 1;   ///< of the order within a round and of the bootstrap
};

/// What one contestant took.
struct Row {
  std::string name;
  double median_ms = 0;  ///< of one run
  Estimate ratio;        ///< of its time to the baseline's, paired by round; 1 of the baseline itself
  double gb_per_s = 0;   ///< from median_ms; 0 where the comparison has no bytes
  std::vector<double> samples_ms;
};

struct Comparison {
  std::string title;
  double bytes = 0;       ///< that one run reads and writes; 0 where bytes say nothing
  std::vector<Row> rows;  ///< the baseline, the baseline again, then the others in their order
};

/// Times the contestants side by side: in every round each runs once, in an order shuffled anew, so that a change of
/// the machine's speed meets all alike. The first is the baseline. It takes part twice: the second row, "NAME again",
/// differs from the first by the harness's own noise alone, and a ratio within that row's interval means nothing.
/// Not thread-safe against itself (times would mean nothing). No contestants give no rows.
[[nodiscard]] Comparison compare(std::string title, double bytes, const std::vector<Contestant>& contestants,
                                 const Options& options);

}  // namespace padlock::bench
