#include "tuner/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "tuner/describe.h"
#include "tuner/measure.h"

namespace padlock::tuner {
namespace {

constexpr std::array kStrategyNames = {std::string_view("fast"), std::string_view("full"), std::string_view("random")};

// The model is coarse: what it finds up to so much slower than the best may yet be the best.
constexpr double kPromising = 1.6;
constexpr double kAlike = 1.01;
constexpr std::size_t kMostPromising = 32;

constexpr double kFirstTimingMs = 8;  // enough to see who is not among the best
constexpr double kRacingTimingMs = 15;
constexpr double kRaceShare = 0.3;  // of the budget, which the first tries leave to the race
constexpr std::size_t kMostFinalists = 8;
constexpr int kLaps = 4;
constexpr std::size_t kEnoughSamples = 400;  // of one config, in all laps together
constexpr std::size_t kMostSamples = 2000;   // that are kept

/// What configs are compared by: the lower quartile of the samples. What else runs on a machine makes samples longer,
/// never shorter, and moves the median of a busy one by a fifth from minute to minute.
std::int64_t undisturbed(std::vector<std::int64_t> samples) {
  if (samples.empty()) return 0;
  const auto quartile = samples.begin() + std::ssize(samples) / 4;
  std::ranges::nth_element(samples, quartile);
  return *quartile;
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class RegionSearch {
 public:
  RegionSearch(const std::string& region, const Sizes& sizes, const std::vector<Candidate>& candidates,
               const SearchOptions& options, const TryFunction& try_config)
      : region_(region), sizes_(sizes), candidates_(candidates), options_(options), try_config_(try_config) {
    for (const Measurement& known : options.known)
      if (known.region == region && known.sizes == sizes) known_[known.config] = known;
    begin_ = now();
  }

  Result<SearchOutcome> run() {
    order_ = order_of_trials(candidates_, options_.strategy, options_.seed);
    PADLOCK_CHECK(try_each());
    PADLOCK_CHECK(race());
    PADLOCK_CHECK(choose());
    for (auto& [index, measured] : measured_) outcome_.measurements.push_back(std::move(measured));
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] double now() const { return options_.seconds ? options_.seconds() : steady_seconds(); }
  [[nodiscard]] double spent() const { return now() - begin_; }
  [[nodiscard]] bool stopped() {
    if (options_.cancelled && options_.cancelled()) outcome_.interrupted = true;
    return outcome_.interrupted;
  }

  /// The first round. The default is tried whatever the budget.
  Status try_each() {
    for (const std::size_t index : order_) {
      const bool in_time = spent() < options_.budget_seconds * (1 - kRaceShare);
      if (stopped() || (index != 0 && !in_time)) break;
      if (const auto known = known_.find(candidates_[index].config); known != known_.end())
        measured_[index] = known->second;
      else
        PADLOCK_CHECK(measure_config(index, kFirstTimingMs));
      if (outcome_.interrupted) break;
      ++tried_;
      report(false);
    }
    return {};
  }

  /// Lap by lap, each of the best in turn, so that what drifts drifts for all; who falls behind drops out. Nobody comes
  /// in later: what was timed once, at another time, is no match for them.
  Status race() {
    for (const std::size_t index : finalists()) raced_.insert(index);
    for (int lap = 0; lap < kLaps; ++lap) {
      const std::vector<std::size_t> runners = finalists();
      if (runners.size() < 2) return {};
      bool timed = false;
      for (const std::size_t index : runners) {
        if (stopped() || spent() >= options_.budget_seconds) return {};
        if (measured_[index].samples_ps.size() >= kEnoughSamples) continue;
        PADLOCK_CHECK(measure_config(index, kRacingTimingMs));
        timed = true;
        report(true);
      }
      if (!timed) return {};
    }
    return {};
  }

  /// Survivors that may be the best, in the candidates' order, the fastest few where there are many.
  std::vector<std::size_t> finalists() {
    const std::optional<std::size_t> best = fastest();
    if (!best) return {};
    const double limit = static_cast<double>(time_of(*best)) + noise_of(*best);
    std::vector<std::size_t> list;
    for (const auto& [index, m] : measured_)
      if (may_win(index, m) && static_cast<double>(time_of(index)) - noise_of(index) <= limit) list.push_back(index);
    // The default races if it may win at all: what is as good as it shall not take its place.
    std::ranges::stable_sort(list, {}, [&](std::size_t i) { return i == 0 ? 0 : time_of(i); });
    if (list.size() > kMostFinalists) list.resize(kMostFinalists);
    std::ranges::sort(list);
    return list;
  }

  /// Survivors, and once there was a race those that were in it, as long as one of them survives.
  [[nodiscard]] bool may_win(std::size_t index, const Measurement& m) const {
    return m.verdict == Verdict::ok && (raced_.empty() || raced_.contains(index));
  }

  [[nodiscard]] std::optional<std::size_t> fastest() const {
    std::optional<std::size_t> best;
    for (const auto& [index, m] : measured_)
      if (may_win(index, m) && (!best || time_of(index) < time_of(*best))) best = index;
    return best;
  }

  [[nodiscard]] std::int64_t time_of(std::size_t index) const { return undisturbed(measured_.at(index).samples_ps); }
  /// How far two tries of it may lie apart, for whether it is worth another.
  [[nodiscard]] double noise_of(std::size_t index) const {
    const Measurement& m = measured_.at(index);
    return static_cast<double>(std::min(m.noise_ps, m.median_ps / 10)) + kTie * static_cast<double>(m.median_ps);
  }

  /// The earliest that is as good as the fastest.
  [[nodiscard]] std::optional<std::size_t> winner() const {
    const std::optional<std::size_t> best = fastest();
    if (!best) return std::nullopt;
    const double limit = static_cast<double>(time_of(*best)) * (1 + kTie);
    for (const auto& [index, m] : measured_)
      if (may_win(index, m) && static_cast<double>(time_of(index)) <= limit) return index;
    return best;
  }

  /// The first of those that win one after the other which is right at the awkward sizes, too.
  Status choose() {
    while (const std::optional<std::size_t> index = winner()) {
      PADLOCK_TRY(const bool right, passes_awkward_sizes(*index));
      if (outcome_.interrupted) return {};
      if (!right) continue;  // its measurement is a failure now
      outcome_.config = candidates_[*index].config;
      outcome_.median_ps = measured_[*index].median_ps;
      if (const auto standard = measured_.find(0); standard != measured_.end())
        outcome_.default_ps = standard->second.median_ps;
      outcome_.reason = *index == 0 ? "no config beats the default"
                                    : fmt::format("the first of {} measured configs within {:.0f} % of the fastest",
                                                  measured_.size(), 100 * kTie);
      return {};
    }
    outcome_.reason = "no config survived";
    return {};
  }

  Result<bool> passes_awkward_sizes(std::size_t index) {
    const std::string& config = candidates_[index].config;
    for (const std::int64_t skew : {0, 1})
      for (const Sizes& sizes : options_.awkward) {
        if (stopped()) return false;
        PADLOCK_TRY(const TryResult result, attempt({.config = config, .sizes = sizes, .skew = skew}));
        if (outcome_.interrupted) return false;
        if (result.verdict == Verdict::ok || result.verdict == Verdict::out_of_memory) continue;
        TryResult failure = result;
        failure.message = fmt::format("at {}: {}", to_string(sizes), result.message);
        PADLOCK_CHECK(keep(index, failure));
        return false;
      }
    return true;
  }

  Result<TryResult> attempt(const Trial& trial) {
    ++outcome_.trials;
    Result<TryResult> result = try_config_(trial);
    // Whoever interrupts may have ended the worker, too: that is not the config's doing.
    if (!result && result.error().code == Code::cancelled) {
      outcome_.interrupted = true;
      return TryResult{.verdict = Verdict::run, .message = "interrupted"};
    }
    if (result && result->verdict != Verdict::ok && stopped()) outcome_.interrupted = true;
    return result;
  }

  Status measure_config(std::size_t index, double timing_ms) {
    PADLOCK_TRY(TryResult result,
                attempt({.config = candidates_[index].config, .sizes = sizes_, .timing_ms = timing_ms}));
    if (outcome_.interrupted && result.verdict != Verdict::ok) return {};
    return keep(index, result);
  }

  /// Adds to what is known of a config, and has it kept.
  Status keep(std::size_t index, const TryResult& result) {
    Measurement& m = measured_[index];
    m.region = region_;
    m.config = candidates_[index].config;
    m.sizes = sizes_;
    m.verdict = result.verdict;
    m.provenance = provenance_now(options_.seed);
    if (result.verdict != Verdict::ok) {
      raced_.erase(index);
      m.samples_ps.clear();
      m.median_ps = m.noise_ps = 0;
      m.message = printable(result.message);
    } else {
      m.samples_ps.insert(m.samples_ps.end(), result.samples_ps.begin(), result.samples_ps.end());
      if (m.samples_ps.size() > kMostSamples) m.samples_ps.resize(kMostSamples);
      const MedianEstimate estimate = estimate_median(m.samples_ps);
      m.median_ps = estimate.median;
      m.noise_ps = estimate.half_width;
    }
    return options_.keep ? options_.keep(m) : Status();
  }

  void report(bool racing) {
    if (!options_.progress) return;
    const std::optional<std::size_t> best = fastest();
    const double left = std::max(0.0, options_.budget_seconds - spent());
    const double each = spent() / std::max(tried_, 1);
    // The race takes about as long as its share of the budget.
    const double estimate = racing ? left
                                   : each * static_cast<double>(static_cast<int>(order_.size()) - tried_) +
                                         kRaceShare * options_.budget_seconds;
    options_.progress({.tried = tried_,
                       .candidates = static_cast<int>(order_.size()),
                       .racing = racing,
                       .best = best ? candidates_[*best].config : "",
                       .best_ps = best ? measured_[*best].median_ps : 0,
                       .seconds = spent(),
                       .seconds_left = std::min(left, estimate)});
  }

  const std::string& region_;
  const Sizes& sizes_;
  const std::vector<Candidate>& candidates_;
  const SearchOptions& options_;
  const TryFunction& try_config_;
  std::map<std::string, Measurement> known_;     // by config
  std::map<std::size_t, Measurement> measured_;  // by candidate
  std::vector<std::size_t> order_;
  std::set<std::size_t> raced_;  // empty: all that survived
  SearchOutcome outcome_;
  double begin_ = 0;
  int tried_ = 0;
};

}  // namespace

std::string_view name_of(Strategy strategy) { return kStrategyNames.at(static_cast<std::size_t>(strategy)); }

Result<Strategy> strategy_from_name(std::string_view name) {
  const auto* const found = std::ranges::find(kStrategyNames, name);
  if (found == kStrategyNames.end())
    return invalid_argument(fmt::format("expected fast, full or random, found '{}'", name));
  return static_cast<Strategy>(found - kStrategyNames.begin());
}

std::vector<std::size_t> order_of_trials(const std::vector<Candidate>& candidates, Strategy strategy,
                                         std::uint64_t seed) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() < 2 || strategy == Strategy::full) return order;
  const auto others = order.begin() + 1;  // the default stays first
  if (strategy == Strategy::random) {
    std::mt19937_64 random(seed);
    // std::shuffle differs between standard libraries.
    for (auto i = order.size() - 1; i > 1; --i) std::swap(order[i], order[1 + random() % i]);
    return order;
  }
  const auto predicted = [&](std::size_t i) { return candidates[i].predicted_ns; };
  std::stable_sort(others, order.end(), [&](std::size_t a, std::size_t b) { return predicted(a) < predicted(b); });
  const double limit = kPromising * std::min(predicted(0), predicted(order[1]));
  const auto end = std::find_if(others, order.end(), [&](std::size_t i) { return predicted(i) > limit; });
  order.erase(end, order.end());
  // Many are alike to the model. Of each such kind the first, then of each the second, and so on.
  std::map<std::size_t, int> place;  // among its kind
  for (std::size_t i = 1, first = 1; i < order.size(); ++i) {
    if (predicted(order[i]) > kAlike * predicted(order[first])) first = i;
    place[order[i]] = static_cast<int>(i - first);
  }
  std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  if (order.size() > kMostPromising) order.resize(kMostPromising);
  return order;
}

Result<SearchOutcome> search_region(const std::string& region, const Sizes& sizes,
                                    const std::vector<Candidate>& candidates, const SearchOptions& options,
                                    const TryFunction& try_config) {
  if (candidates.empty()) return invalid_argument("expected configs to search among, found none");
  return RegionSearch(region, sizes, candidates, options, try_config).run();
}

}  // namespace padlock::tuner
