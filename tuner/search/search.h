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

// Which of the configs of one region is recorded. Trying a config, the clock and keeping records are functions, so
// that tests run the same search without a worker or a clock.
namespace padlock::tuner {

/// One request: a config is verified, and timed for so long where that is not 0.
struct Trial {
  std::string config;
  Sizes sizes;
  std::int64_t skew = 0;               ///< as TryRequest::skew
  std::vector<TryPoint> further = {};  ///< as TryRequest::further
  std::int64_t placement = 0;          ///< as TryRequest::placement
  Setting setting = Setting::cold;
  double timing_ms = 0;
  std::vector<std::string> rivals = {};  ///< timed in turn with it, for so long each
  std::vector<std::string> next = {};    ///< configs that come after it, if nothing comes between
  double limit_seconds = 0;              ///< after which it is given up; 0: it has the time that it takes
};
/// Errors: cancelled, where it was interrupted; deadline_exceeded, where it was given up; others where nothing can be
/// tried any more. How a config failed is a verdict.
using TryFunction = std::function<Result<TryResult>(const Trial&)>;

/// Progress tells people what a search has found so far.
struct Progress {
  int tried = 0;             ///< of the candidates that are to be tried
  int candidates = 0;        ///< those
  bool racing = false;       ///< all were tried, and the best are timed again
  std::string best = {};     ///< config; empty while none survived
  std::int64_t best_ps = 0;  ///< its median
  double seconds = 0;        ///< since the search began
  double least_seconds = 0;  ///< about, of the default alone; 0: not said
  double seconds_left = 0;   ///< about; at most what is left of the budget, but 0 when it is over
};

struct SearchOptions {
  Strategy strategy = Strategy::fast;
  double budget_seconds = 10;  ///< for everything, checks included; the default is tried whatever it is
  std::uint64_t seed = 1;
  Regime regime = Regime::cold;                         ///< of the region
  std::vector<Sizes> awkward = {};                      ///< where a winner is checked before it is chosen
  std::vector<Measurement> known = {};                  ///< of this region, regime and these sizes: not tried again
  std::function<double()> seconds = {};                 ///< a clock; empty: the steady one
  std::function<bool()> cancelled = {};                 ///< asked between tries; may be empty
  std::function<Status(const Measurement&)> keep = {};  ///< of each thing that is measured, as it is; may be empty
  std::function<void(const Progress&)> progress = {};   ///< after each try; may be empty
};

/// How a search ended.
struct SearchOutcome {
  std::optional<std::string> config;  ///< the choice; absent: none survived, or it was interrupted before one could be
  bool interrupted = false;
  int trials = 0;                              ///< tries of one config at one point that were asked for
  int requests = 0;                            ///< of one such try or several
  std::int64_t median_ps = 0;                  ///< of the choice
  std::int64_t default_ps = 0;                 ///< of the first candidate; 0 where it did not survive
  std::optional<Ratios> ratios = {};           ///< of the choice, where it raced with the default
  int candidates = 0;                          ///< configs that the search tries, had it the time
  std::string reason;                          ///< "no config beats the default: 24 of 24 configs were measured", ...
  std::vector<Measurement> measurements = {};  ///< all that is known of the region, in the candidates' order
};

/// Searches among the candidates, of which the first is the default and is always tried. Of the first one that survives
/// some checks at awkward sizes are made at once, which tells what checking the winner takes; so much is set aside.
/// A config replaces the default only after all its checks, and after it was timed beside the default in each setting
/// of the regime (settings_of) and lost in none by more than the noise. The default may be chosen before its own
/// checks if the budget ends: it runs without a choice, too. Where candidates differ in whether they
/// store past the caches, there is a reader behind them, too. Ties within the noise go to the earlier one. Errors:
/// those of `try_config` and `keep`; what was kept stays.
[[nodiscard]] Result<SearchOutcome> search_region(const std::string& region, const Sizes& sizes,
                                                  const std::vector<Candidate>& candidates,
                                                  const SearchOptions& options, const TryFunction& try_config);

}  // namespace padlock::tuner
