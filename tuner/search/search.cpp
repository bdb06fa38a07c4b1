#include "tuner/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <string_view>
#include <utility>

#include "tuner/cache/describe.h"
#include "tuner/trial/measure.h"

namespace padlock::tuner {
namespace {

constexpr std::array kStrategyNames = {std::string_view("fast"), std::string_view("full"), std::string_view("random")};

// The model is coarse: what it finds up to so much slower than the best may yet be the best.
constexpr double kPromising = 1.6;
constexpr double kAlike = 1.01;
constexpr std::size_t kMostPromising = 24;
constexpr int kSteps = 3;  // from the best few so far to better ones beside them
constexpr std::size_t kBestBeside = 3;

constexpr double kFirstTimingMs = 12;       // enough to see who is not among the best
constexpr double kRaceShare = 0.3;          // of the budget, which the first tries leave to the race
constexpr std::size_t kMostSamples = 2000;  // of a config that are kept

/// The race's heats: how many take part, the best of the heat before, how long each is timed and on how many
/// placements. Telling the last few apart takes longest: which of two is faster by some percent may be another one on
/// other pages.
struct Heat {
  std::size_t runners;
  double timing_ms;  // on each placement
  int placements;
};
constexpr std::array kHeats = {Heat{16, 15, 1}, Heat{8, 20, 2}, Heat{4, 25, 16}};
// Before the last heat twice what makes a tie: what is yet a little off may turn out to be one.
constexpr double kTieMargin = 2 * kTie;
// How far two tries at different times may lie apart, beside what each shows of its own noise, and the most of both.
constexpr double kFirstNoise = 0.25;
constexpr double kFarBehind = 0.5;

/// Compares two configs' texts, which have the same keys in the same order.
bool differ_in_one_key(std::string_view a, std::string_view b) {
  int differences = 0;
  while (!a.empty() || !b.empty()) {
    const std::size_t end_a = std::min(a.find(','), a.size()), end_b = std::min(b.find(','), b.size());
    differences += a.substr(0, end_a) == b.substr(0, end_b) ? 0 : 1;
    a.remove_prefix(std::min(end_a + 1, a.size()));
    b.remove_prefix(std::min(end_b + 1, b.size()));
  }
  return differences == 1;
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
    PADLOCK_CHECK(try_neighbours());
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
    while (static_cast<std::size_t>(tried_) < order_.size()) {
      const std::size_t index = order_[static_cast<std::size_t>(tried_)];
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

  /// Tries the neighbours of the best few configs, in one key, and of what is better then: what the model cannot tell
  /// apart, its order leaves to chance.
  Status try_neighbours() {
    if (options_.strategy != Strategy::fast) return {};
    for (int step = 0; step < kSteps && !outcome_.interrupted; ++step) {
      const std::size_t before = order_.size();
      for (const std::size_t index : finalists(kBestBeside)) add_beside(index);
      if (order_.size() == before) return {};
      PADLOCK_CHECK(try_each());
    }
    return {};
  }

  void add_beside(std::size_t index) {
    const Candidate& other = candidates_[index];
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (candidates_[i].predicted_ns <= kPromising * other.predicted_ns && std::ranges::count(order_, i) == 0 &&
          differ_in_one_key(candidates_[i].config, other.config))
        order_.push_back(i);
  }

  /// Those that may be the best are timed in turn, sample by sample, so that what drifts drifts for all; who falls
  /// behind drops out. What was timed alone, at another time, is no match for them.
  Status race() {
    for (const Heat& heat : kHeats) {
      const std::vector<std::size_t> runners = finalists(heat.runners);
      if (runners.size() < 2 || stopped() || spent() >= options_.budget_seconds) return {};
      for (int i = 0; i < heat.placements && !stopped(); ++i) {
        PADLOCK_TRY(const bool done, run_heat(runners, heat.timing_ms));
        if (!done) return {};
        report(true);
        if (spent() >= options_.budget_seconds) break;
      }
    }
    return {};
  }

  /// False where it came to nothing.
  Result<bool> run_heat(std::vector<std::size_t> runners, double timing_ms) {
    Trial trial{.config = candidates_[runners.front()].config,
                .sizes = sizes_,
                .placement = ++placements_,
                .timing_ms = timing_ms};
    for (std::size_t i = 1; i < runners.size(); ++i) trial.rivals.push_back(candidates_[runners[i]].config);
    PADLOCK_TRY(TryResult result, attempt(trial));
    if (outcome_.interrupted) return false;
    const bool complete = !result.samples_ps.empty() && result.rivals_ps.size() + 1 == runners.size();
    if (result.verdict != Verdict::ok || !complete) return isolate_failure(runners);
    result.rivals_ps.insert(result.rivals_ps.begin(), std::move(result.samples_ps));
    std::map<std::size_t, std::vector<std::int64_t>> raced;
    for (std::size_t i = 0; i < runners.size(); ++i) {
      raced[runners[i]] = raced_[runners[i]];
      std::ranges::copy(result.rivals_ps[i], std::back_inserter(raced[runners[i]]));
      PADLOCK_CHECK(keep(runners[i], {.samples_ps = std::move(result.rivals_ps[i])}));
    }
    raced_ = std::move(raced);
    return true;
  }

  /// Somebody in a heat is wrong: each is tried alone, which finds out who. Then there is no race.
  Result<bool> isolate_failure(const std::vector<std::size_t>& runners) {
    raced_.clear();
    for (const std::size_t index : runners) {
      if (stopped()) break;
      PADLOCK_CHECK(measure_config(index, kFirstTimingMs));
    }
    return false;
  }

  /// Survivors that may be the best, in the candidates' order. Where there are many the fastest few, and of those that
  /// are as good as the fastest the earliest, which win: who is left out shall not be a matter of noise.
  std::vector<std::size_t> finalists(std::size_t most) {
    const std::optional<std::size_t> best = fastest();
    if (!best) return {};
    std::vector<std::size_t> list;
    for (const auto& [index, m] : measured_)
      if (may_win(index, m) && behind(index, *best) - noise_of(index) <= 1 + kTie) list.push_back(index);
    // The default races if it may win at all: what is as good as it shall not take its place.
    std::ranges::stable_sort(
        list, {}, [&](std::size_t i) { return i == 0 || i == *best ? 0 : std::max(behind(i, *best), 1 + kTieMargin); });
    if (list.size() > most) list.resize(most);
    std::ranges::sort(list);
    return list;
  }

  /// Survivors, and once there was a race those that were in its last heat, as long as one of them survives.
  [[nodiscard]] bool may_win(std::size_t index, const Measurement& m) const {
    return m.verdict == Verdict::ok && (raced_.empty() || raced_.contains(index));
  }

  [[nodiscard]] std::optional<std::size_t> fastest() const {
    std::optional<std::size_t> best;
    for (const auto& [index, m] : measured_)
      if (may_win(index, m) && (!best || time_of(index) < time_of(*best))) best = index;
    return best;
  }

  [[nodiscard]] std::int64_t time_of(std::size_t index) const {
    return lower_quartile(raced_.empty() ? measured_.at(index).samples_ps : raced_.at(index));
  }

  /// Its time over that of the best: pair by pair, where they were timed in turn.
  [[nodiscard]] double behind(std::size_t index, std::size_t best) const {
    if (!raced_.empty()) return static_cast<double>(paired_ratio(raced_.at(index), raced_.at(best)).median) / 1e6;
    return static_cast<double>(time_of(index)) / static_cast<double>(std::max<std::int64_t>(time_of(best), 1));
  }

  /// How far that may be wrong.
  [[nodiscard]] double noise_of(std::size_t index) const {
    if (!raced_.empty())
      return static_cast<double>(paired_ratio(raced_.at(index), raced_.at(*fastest())).half_width) / 1e6;
    const Measurement& m = measured_.at(index);
    return std::min(kFarBehind,
                    2 * static_cast<double>(m.noise_ps) / static_cast<double>(std::max<std::int64_t>(m.median_ps, 1)) +
                        kFirstNoise);
  }

  /// The earliest that is as good as the fastest.
  [[nodiscard]] std::optional<std::size_t> winner() const {
    const std::optional<std::size_t> best = fastest();
    if (!best) return std::nullopt;
    for (const auto& [index, m] : measured_)
      if (may_win(index, m) && behind(index, *best) <= 1 + kTie) return index;
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
  std::map<std::size_t, std::vector<std::int64_t>> raced_;  // samples of the last heat's runners; empty: no race
  SearchOutcome outcome_;
  std::int64_t placements_ = 0;  // that the race was on
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
