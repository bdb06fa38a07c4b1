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

/// TuneOptions say what to tune for, and the limits of its cost. See docs/tuning.md.
struct TuneOptions {
  runtime::DeviceId device = {};
  tuner::SizeRequest sizes = {};
  tuner::Strategy strategy = tuner::Strategy::fast;
  /// For all regions together, checks included. The default of each region is tried in any case.
  double budget_seconds = 10;
  std::uint64_t seed = 1;
  bool must_keep = false;         ///< if the cache should be written and cannot be, fail
  bool resume = false;            ///< reuse the cache's results instead of measuring again
  std::int64_t memory_bytes = 0;  ///< limit for scratch memory; 0: half of what is free
  tuner::Shard shard = {};        ///< tune only this shard's regions
  /// Returns whether to stop; called between tries and about ten times a second during one, which is then ended. May be
  /// empty.
  std::function<bool()> cancelled = {};
  /// Called after each try, for region number `region` (from 0) of `regions`. May be empty.
  std::function<void(std::size_t region, std::size_t regions, const tuner::Progress&)> progress = {};
};

/// RegionPlan lists the tries planned for one region: its configs in order.
struct RegionPlan {
  tuner::PlannedRegion planned;
  std::vector<tuner::Candidate> candidates;  ///< all, the default first
  std::vector<std::size_t> order;            ///< indices of candidates that the strategy tries
  double least_seconds = 0;                  ///< estimate for trying the default alone
  std::int64_t scratch_bytes = 0;  ///< memory for trying a config; timing takes more if it uses buffers in turn
};
struct TunePlan {
  std::string target;             ///< CPU and features, or a GPU's architecture
  std::int64_t memory_bytes = 0;  ///< limit for scratch memory; a GPU's pages of one launch may exceed it
  std::vector<RegionPlan> regions;
};

struct TunedRegion {
  tuner::PlannedRegion planned;
  tuner::SearchOutcome outcome;
  bool was_known = false;  ///< with `resume`, the cache had the choice: nothing was tried

  /// Number of configs that were measured and failed.
  [[nodiscard]] int failed() const;
};
struct TuneReport {
  std::string target;
  std::string key;                   ///< digest under which the cache keeps the results
  std::vector<TunedRegion> regions;  ///< those reached so far
  int trials = 0;                    ///< requested tries of one config at one point
  int requests = 0;                  ///< to the worker, each with one or several tries
  double seconds = 0;
  bool interrupted = false;
  std::string not_kept = {};  ///< why the cache's file could not be written; empty if it could

  /// Number of regions with a config.
  [[nodiscard]] int chosen() const;
};

/// Tuning while a program is in use: on one thread of the context, one program after another, each config tried in the
/// worker as usual. Results in the cache are not measured again. Later bindings use the chosen configs; existing ones
/// stay as they are. The end of the context stops it, and finished measurements are kept.
struct BackgroundTuning {
  TuneOptions options = {};  ///< the device is the compiled program's, and `resume` is implied
  /// Called once on that thread, when the configs are in use, or with the error of `tune` or of compiling them. May be
  /// empty.
  std::function<void(const Result<TuneReport>&)> finished = {};
};

}  // namespace padlock::session
