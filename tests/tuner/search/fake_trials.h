#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/search/search.h"
#include "tuner/trial/measure.h"

namespace padlock::tuner::testing {

/// Configs "c0", "c1", ... with a time each. Trying one runs nothing.
class FakeTrials {
 public:
  explicit FakeTrials(std::vector<double> times_us, std::uint64_t seed = 1, double noise = 0.005)
      : times_us_(std::move(times_us)), random_(seed), noise_(noise) {
    for (std::size_t i = 0; i < times_us_.size(); ++i)
      candidates.push_back({.config = "c=" + std::to_string(i), .predicted_ns = 1000 * times_us_[i]});
  }

  Result<TryResult> operator()(const Trial& trial) {
    log.push_back(trial);
    const double takes =
        (seconds_of ? seconds_of(trial) : seconds_a_try) * static_cast<double>(1 + trial.further.size());
    clock += trial.limit_seconds > 0 ? std::min(takes, trial.limit_seconds) : takes;
    if (trial.limit_seconds > 0 && takes > trial.limit_seconds)
      return std::unexpected(Error{.code = Code::deadline_exceeded, .message = "it took too long"});
    if (after && after(trial)) interrupted = true;
    if (cancels_at > 0 && std::ssize(log) == cancels_at)
      return std::unexpected(Error{.code = Code::cancelled, .message = "stopped"});
    if (!trial.rivals.empty()) return race(trial);
    const std::size_t index = index_of(trial.config);
    TryResult result;
    if (const auto failure = failures.find(trial.config); failure != failures.end()) {
      const bool awkward = trial.timing_ms == 0;
      if (!awkward || awkward_failures) return TryResult{.verdict = failure->second, .message = "it is broken"};
    }
    if (trial.timing_ms == 0) return check(trial);
    const double luck = luck_of(index, trial) * moment() * factor_of(index, trial);
    for (int i = 0; i < 60; ++i) result.samples_ps.push_back(sample(index, luck));
    const MedianEstimate estimate = estimate_median(result.samples_ps);
    result.median_ps = estimate.median;
    result.noise_ps = estimate.half_width;
    return result;
  }

  SearchOptions options(Strategy strategy = Strategy::full, double budget = 1000) {
    return {.strategy = strategy,
            .budget_seconds = budget,
            .seed = 1,
            .awkward = {{{"A", 0}}, {{"A", 1}}},
            .seconds = [this] { return clock; },
            .cancelled = [this] { return interrupted; },
            .keep =
                [this](const Measurement& m) {
                  const Status valid = validate(record_of(CacheKey(KeyFields{.program = std::string(32, '0')}), m));
                  CHECK_MESSAGE(valid, (valid ? "" : valid.error().to_string()));
                  kept[m.config] = m;
                  return Status();
                },
            .progress = [this](const Progress& p) { progress.push_back(p); }};
  }

  SearchOutcome search(const SearchOptions& options) {
    auto outcome = search_region("", {{"A", 100}}, candidates, options, std::ref(*this));
    REQUIRE(outcome);
    return *std::move(outcome);
  }
  SearchOutcome search() { return search(options()); }

  void rename(const std::vector<std::string>& configs) {
    for (std::size_t i = 0; i < configs.size(); ++i) candidates[i].config = configs[i];
  }

  /// Returns how often it was timed, alone or in turn with others.
  [[nodiscard]] int timed(const std::string& config) const {
    return static_cast<int>(std::count_if(log.begin(), log.end(), [&](const Trial& t) {
      return t.timing_ms > 0 && (t.config == config || std::ranges::count(t.rivals, config) > 0);
    }));
  }

  [[nodiscard]] bool timed_alone(const std::string& config) const {
    return std::ranges::any_of(
        log, [&](const Trial& t) { return t.timing_ms > 0 && t.rivals.empty() && t.config == config; });
  }

  std::vector<Candidate> candidates;
  std::map<std::string, Verdict> failures;
  std::set<std::string> wrong_in_races = {};  // and alone, too, if `exposed`
  bool exposed = true;
  std::set<std::string> wrong_when_awkward;
  std::optional<TryPoint> wrong_at = {};       // wrong only there
  std::optional<TryPoint> ends_batch_at = {};  // memory ends there, and the worker with it
  bool awkward_failures = true;
  int cancels_at = 0;    // the number of a try, from 1; 0: none
  int slower_after = 0;  // number of tries; 0: never
  std::function<bool(const Trial&)> after;
  double memory_effect = 0;                            // deviation of a config's time with the place of its buffers
  double moment_effect = 0;                            // deviation with the moment, which lasts for a while
  std::function<double(std::size_t, Setting)> factor;  // a candidate's time in a setting is multiplied by it; empty: 1
  double clock = 0, seconds_a_try = 0.1;
  std::function<double(const Trial&)> seconds_of;  // replaces all of that
  bool interrupted = false;
  std::vector<Trial> log;
  std::map<std::string, Measurement> kept;
  std::vector<Progress> progress;

 private:
  [[nodiscard]] std::size_t index_of(const std::string& config) const {
    const auto found = std::ranges::find(candidates, config, &Candidate::config);
    REQUIRE(found != candidates.end());
    return static_cast<std::size_t>(found - candidates.begin());
  }
  std::int64_t sample(std::size_t index, double disturbed = 1) {
    std::normal_distribution<double> normal(1.0, noise_);
    const double drift = slower_after > 0 && std::ssize(log) > slower_after ? 1.3 : 1;
    return static_cast<std::int64_t>(1e6 * drift * disturbed * times_us_[index] * std::max(0.5, normal(random_)));
  }
  TryResult check(const Trial& trial) const {
    std::vector<TryPoint> places = {{.symbols = trial.sizes, .skew = trial.skew}};
    places.insert(places.end(), trial.further.begin(), trial.further.end());
    const auto is = [](const TryPoint& place, const std::optional<TryPoint>& named) {
      return named && place.symbols == named->symbols && place.skew == named->skew;
    };
    TryResult result;
    for (const TryPoint& place : places) {
      if (awkward_failures && wrong_when_awkward.contains(trial.config) && (!wrong_at || is(place, wrong_at)))
        return {.verdict = Verdict::wrong_result, .message = "element 3 differs", .passed = result.passed};
      ++result.passed;
      if (is(place, ends_batch_at))
        return {.verdict = Verdict::out_of_memory, .message = "it is full", .passed = result.passed};
    }
    return result;
  }
  /// As above, for as long as the memory is kept.
  double luck_of(std::size_t index, const Trial& trial) {
    const auto [known, is_new] = luck_.try_emplace({index, trial.placement}, 1.0);
    if (is_new) known->second += memory_effect * std::normal_distribution<double>()(random_);
    return known->second;
  }
  [[nodiscard]] double factor_of(std::size_t index, const Trial& trial) const {
    return factor ? factor(index, trial.setting) : 1;
  }
  double moment() { return moment_effect == 0 ? 1 : 1 + moment_effect * std::normal_distribution<double>()(random_); }
  /// Makes rounds, of which every third is disturbed as a whole.
  TryResult race(const Trial& trial) {
    std::vector<std::string> runners = {trial.config};
    runners.insert(runners.end(), trial.rivals.begin(), trial.rivals.end());
    for (const std::string& config : runners) {
      if (!wrong_in_races.contains(config)) continue;
      if (exposed) failures[config] = Verdict::wrong_result;
      return {.verdict = Verdict::wrong_result, .message = "somebody is wrong"};
    }
    std::vector<double> luck;
    const double now = moment();
    for (const std::string& config : runners)
      luck.push_back(now * luck_of(index_of(config), trial) * factor_of(index_of(config), trial));
    std::vector<std::vector<std::int64_t>> samples(runners.size());
    for (int round = 0; round < 30; ++round)
      for (std::size_t i = 0; i < runners.size(); ++i)
        samples[i].push_back(sample(index_of(runners[i]), luck[i] * (round % 3 == 0 ? 1.5 : 1)));
    TryResult result{.samples_ps = std::move(samples.front())};
    result.rivals_ps.assign(samples.begin() + 1, samples.end());
    return result;
  }

  std::vector<double> times_us_;
  std::mt19937_64 random_;
  double noise_;
  std::map<std::pair<std::size_t, std::int64_t>, double> luck_;
};

}  // namespace padlock::tuner::testing
