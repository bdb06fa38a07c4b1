#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/device_id.h"
#include "support/error.h"
#include "tuner/search/search.h"
#include "tuner/search/shard.h"
#include "tuner/search/size_plan.h"

namespace padlock::session {

/// As tuner::regime_from_name; the error lists "auto", too.
[[nodiscard]] Result<tuner::Regime> regime_from_name(std::string_view name);

/// TuneOptions say what to tune for and what it may cost. See docs/tuning.md.
struct TuneOptions {
  runtime::DeviceId device = {};
  tuner::SizeRequest sizes = {};
  tuner::Strategy strategy = tuner::Strategy::fast;
  /// For all regions together, checks included. The default of each is tried whatever it is.
  double budget_seconds = 10;
  std::uint64_t seed = 1;
  bool must_keep = false;         ///< a cache that is to be written and cannot be is an error
  bool resume = false;            ///< take over what the cache knows, instead of measuring it again
  std::int64_t memory_bytes = 0;  ///< of scratch memory; 0: half of what is free
  tuner::Shard shard = {};        ///< of the regions only those that are dealt to it
  /// Asked between tries and about ten times a second while one runs, which is ended then. May be empty.
  std::function<bool()> cancelled = {};
  /// After each try; of region number `region` (from 0) of `regions`. May be empty.
  std::function<void(std::size_t region, std::size_t regions, const tuner::Progress&)> progress = {};
};

/// RegionPlan lists what would be tried for one region: configs in the order of the tries.
struct RegionPlan {
  tuner::PlannedRegion planned;
  std::vector<tuner::Candidate> candidates;  ///< all, the default first
  std::vector<std::size_t> order;            ///< of those that the strategy tries
  double least_seconds = 0;                  ///< about, that the default alone takes
  std::int64_t scratch_bytes = 0;  ///< of memory that trying a config takes; more where timing takes buffers in turn
};
struct TunePlan {
  std::string target;             ///< CPU and features, or a GPU's architecture
  std::int64_t memory_bytes = 0;  ///< what scratch memory takes at most, but for a GPU's pages of one launch's buffers
  std::vector<RegionPlan> regions;
};

struct TunedRegion {
  tuner::PlannedRegion planned;
  tuner::SearchOutcome outcome;
  bool was_known = false;  ///< resumed, and the cache had the choice: nothing was tried

  /// Configs that were measured and did not come through.
  [[nodiscard]] int failed() const;
};
struct TuneReport {
  std::string target;
  std::string key;                   ///< digest under which everything is kept
  std::vector<TunedRegion> regions;  ///< as far as it came
  int trials = 0;                    ///< tries of one config at one point that the worker was asked for
  int requests = 0;                  ///< to the worker, of one such try or several
  double seconds = 0;
  bool interrupted = false;
  std::string not_kept = {};  ///< why the cache's file could not be written; empty if it was written

  /// Regions that have a config.
  [[nodiscard]] int chosen() const;
};

/// Tuning while a program serves: on one thread of the context, one program after another, each config tried in the
/// worker as ever. What the cache knows is not measured again. Bindings made after it take the configs that were
/// chosen; what is bound already stays as it is. A context that ends stops it, and what was measured is kept.
struct BackgroundTuning {
  TuneOptions options = {};  ///< the device is the compiled program's, and `resume` goes without saying
  /// Called once on that thread, when the configs serve, or with the error of `tune` or of compiling them. May be
  /// empty.
  std::function<void(const Result<TuneReport>&)> finished = {};
};

}  // namespace padlock::session
