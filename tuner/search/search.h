#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/error.h"
#include "tuner/cache/record.h"
#include "tuner/search/ranking.h"
#include "tuner/search/strategy.h"
#include "tuner/trial/request.h"

// Chooses the config to record for one region. Trying a config, the clock and keeping records are functions, so that
// tests run the same search without a worker or a clock.
namespace padlock::tuner {

/// One request: verify a config, and time it for so many milliseconds unless 0.
struct Trial {
  std::string config;
  Sizes sizes;
  std::int64_t skew = 0;               ///< as TryRequest::skew
  std::vector<TryPoint> further = {};  ///< as TryRequest::further
  std::int64_t placement = 0;          ///< as TryRequest::placement
  Setting setting = Setting::cold;
  double timing_ms = 0;
  std::vector<std::string> rivals = {};  ///< timed in turn with it, each for as long
  std::vector<std::string> next = {};    ///< configs expected to come next
  double limit_seconds = 0;              ///< time after which the try is given up; 0: no limit
};
/// Errors: cancelled after an interruption; deadline_exceeded if given up; others if nothing can be tried any more. A
/// failing config is a verdict, not an error.
using TryFunction = std::function<Result<TryResult>(const Trial&)>;

/// Progress reports what a search has found so far.
struct Progress {
  int tried = 0;             ///< configs tried so far
  int candidates = 0;        ///< number of configs to try
  bool racing = false;       ///< all were tried, and the best are timed again
  std::string best = {};     ///< config; empty before any survived
  std::int64_t best_ps = 0;  ///< its median
  double seconds = 0;        ///< since the search began
  double least_seconds = 0;  ///< about, of the default alone; 0: not said
  double seconds_left = 0;   ///< about; at most the rest of the budget, or 0 after its end
};

struct SearchOptions {
  Strategy strategy = Strategy::fast;
  double budget_seconds = 10;  ///< for everything, checks included; the default is tried in any case
  std::uint64_t seed = 1;
  Regime regime = Regime::cold;          ///< the region's regime
  std::vector<Sizes> awkward = {};       ///< sizes at which a winner is checked before it is chosen
  std::vector<Measurement> known = {};   ///< earlier measurements of this region, regime and sizes: not repeated
  std::function<double()> seconds = {};  ///< a clock; empty: the steady one
  std::function<bool()> cancelled = {};  ///< asked between tries; may be empty
  std::function<Status(const Measurement&)> keep = {};  ///< called for each measurement, at once; may be empty
  std::function<void(const Progress&)> progress = {};   ///< after each try; may be empty
};

/// How a search ended.
struct SearchOutcome {
  std::optional<std::string> config;  ///< the choice; absent: no survivor, or interrupted too early
  bool interrupted = false;
  int trials = 0;                              ///< requested tries of one config at one point
  int requests = 0;                            ///< each with one or several tries
  std::int64_t median_ps = 0;                  ///< median time of the choice
  std::int64_t default_ps = 0;                 ///< median time of the first candidate; 0 if it did not survive
  std::optional<Ratios> ratios = {};           ///< ratios of the choice, if it raced with the default
  int candidates = 0;                          ///< configs that the search would try, given time
  std::string reason;                          ///< "no config beats the default: 24 of 24 configs were measured", ...
  std::vector<Measurement> measurements = {};  ///< all measurements of the region, in the candidates' order
};

/// Searches among the candidates, of which the first is the default and is always tried. Some checks at awkward sizes
/// follow the first survivor's try; their time predicts that of the winner's checks, which is set aside. A config
/// replaces the default only after all its checks and a timing beside the default: it must lose in no setting of the
/// regime (settings_of) by more than the noise. If the budget ends, the default may be chosen before its own checks,
/// since it runs without a choice, too. If candidates differ in storing past the caches, they are also timed with a
/// reader behind them. Ties within the noise go to the earlier one. Errors: those of `try_config` and `keep`; what was
/// kept stays.
[[nodiscard]] Result<SearchOutcome> search_region(const std::string& region, const Sizes& sizes,
                                                  const std::vector<Candidate>& candidates,
                                                  const SearchOptions& options, const TryFunction& try_config);

}  // namespace padlock::tuner
