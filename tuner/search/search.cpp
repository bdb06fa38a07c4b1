#include "tuner/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "tuner/cache/describe.h"
#include "tuner/search/search_budget.h"
#include "tuner/trial/measure.h"

namespace padlock::tuner {
namespace {

constexpr int kSteps = 3;  // rounds of trying the neighbours of the best few
constexpr std::size_t kBestBeside = 3;

constexpr std::size_t kProbes = 3;  // first checks at awkward sizes, which predict the time of all

constexpr double kFirstTimingMs = 12;       // enough to find configs that are not among the best
constexpr std::size_t kMostNext = 15;       // configs that are compiled along with another
constexpr std::size_t kMostSamples = 2000;  // samples kept per config

/// The race's heats: how many configs take part (the best of the heat before), how long each is timed, and on how many
/// placements. Telling the last few apart takes longest: a difference of some percent may reverse on other pages.
struct Heat {
  std::size_t runners;
  double timing_ms;  // on each placement
  int placements;
};
constexpr std::array kHeats = {Heat{16, 15, 1}, Heat{8, 20, 2}, Heat{4, 25, 16}};
// Shares of the time left for the race when each heat begins. A placement of the last heat takes a small part of its
// share.
constexpr std::array kHeatShares = {0.35, 0.3, 0.15};
constexpr int kMostPlacements = 64;  // of the last heat, if it is in doubt whether the best config beats the default
constexpr int kMostFailures = 3;     // rounds with a wrong config after which there is no race
// Shares of the time before the last checks: for a race in one setting, and in several.
constexpr double kRace = 0.3, kLongRace = 0.5;

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

/// Returns whether some configs store past the caches and others do not.
bool differ_in_past_caches(const std::vector<Candidate>& candidates) {
  return std::ranges::any_of(candidates,
                             [&](const Candidate& c) { return c.past_caches != candidates.front().past_caches; });
}

class RegionSearch {
 public:
  RegionSearch(const std::string& region, const Sizes& sizes, const std::vector<Candidate>& candidates,
               const SearchOptions& options, const TryFunction& try_config)
      : region_(region),
        sizes_(sizes),
        candidates_(candidates),
        options_(options),
        try_config_(try_config),
        ranking_(candidates, settings_of(options.regime, differ_in_past_caches(candidates))),
        budget_(options.budget_seconds, options.seconds, ranking_.race.settings().size() > 1 ? kLongRace : kRace) {
    for (const Measurement& known : options.known)
      if (known.region == region && known.sizes == sizes && known.regime.value_or(Regime::cold) == options.regime)
        known_[known.config] = known;
  }

  Result<SearchOutcome> run() {
    order_ = order_of_trials(candidates_, options_.strategy, options_.seed);
    PADLOCK_CHECK(try_each());
    PADLOCK_CHECK(try_neighbours());
    PADLOCK_CHECK(race());
    PADLOCK_CHECK(choose());
    outcome_.candidates = static_cast<int>(order_.size());
    for (auto& [index, measured] : ranking_.measured) outcome_.measurements.push_back(std::move(measured));
    return std::move(outcome_);
  }

 private:
  [[nodiscard]] bool stopped() {
    if (options_.cancelled && options_.cancelled()) outcome_.interrupted = true;
    return outcome_.interrupted;
  }

  /// The first round. The default is tried whatever the budget; known configs take no time.
  Status try_each() {
    while (static_cast<std::size_t>(tried_) < order_.size()) {
      const std::size_t index = order_[static_cast<std::size_t>(tried_)];
      const auto known = known_.find(candidates_[index].config);
      if (stopped() || (index != 0 && known == known_.end() && !budget_.allows_try())) break;
      if (known != known_.end()) {
        ranking_.measured[index] = known->second;
      } else {
        PADLOCK_TRY(const bool done, try_first(index));
        if (!done) break;
      }
      ++tried_;
      report(false);
      PADLOCK_CHECK(probe_checks(index));
    }
    return {};
  }

  /// Returns false if the try gave no result.
  Result<bool> try_first(std::size_t index) {
    const double before = budget_.spent();
    PADLOCK_TRY(const bool done, measure_config(index, kFirstTimingMs, index == 0 ? 0 : budget_.limit_of_try()));
    // The first try also starts the worker and makes what all tries share.
    if (index != 0)
      budget_.took_try(budget_.spent() - before);
    else
      budget_.took_first(budget_.spent() - before);
    return done;
  }

  /// Begins to check the first survivor, which predicts the time of all checks of a config.
  Status probe_checks(std::size_t index) {
    if (probed_ || ranking_.measured[index].verdict != Verdict::ok) return {};
    const double before = budget_.spent();
    PADLOCK_CHECK(check_awkward_sizes(index, std::min(kProbes, check_count())));
    const std::size_t done = checked_[index];
    probed_ = done > 0;
    if (probed_)
      budget_.took_checks(budget_.spent() - before, static_cast<double>(check_count()) / static_cast<double>(done));
    return {};
  }

  /// Tries neighbours, which differ in one key, of the best few configs, and again of better ones found. The model
  /// orders configs that it cannot tell apart by chance.
  Status try_neighbours() {
    if (options_.strategy != Strategy::fast) return {};
    for (int step = 0; step < kSteps && !outcome_.interrupted; ++step) {
      const std::size_t before = order_.size();
      for (const std::size_t index : ranking_.finalists(kBestBeside)) add_beside(index);
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

  /// Times the configs that may win in turn, sample by sample, so that drift affects all alike. Configs that fall
  /// behind drop out. Configs timed alone, at another time, cannot be compared with these.
  Status race() {
    if (ranking_.measured.empty()) return {};
    int failures = 0;
    for (std::size_t number = 0; number < kHeats.size();) {
      const Heat& heat = kHeats[number];
      const std::vector<std::size_t> runners = ranking_.finalists(runners_of(heat, number));
      if (runners.size() < 2) return {};
      const bool last = number + 1 == kHeats.size();
      Round round = Round::complete;
      for (int i = 0;
           round == Round::complete && (i < heat.placements || (last && i < kMostPlacements && ranking_.in_doubt()));
           ++i) {
        PADLOCK_TRY(round, run_round(runners, heat.timing_ms));
      }
      if (round == Round::ended || (round == Round::failed && ++failures > kMostFailures)) return {};
      if (round == Round::complete) ++number;
    }
    return {};
  }

  /// Returns the time of a round: each config in every setting for the given time, but at least a few launches.
  [[nodiscard]] double round_seconds(std::size_t runners, double timing_ms) const {
    constexpr double kFewest = 4;  // launches: one to warm up, three samples
    const double launch_ms = static_cast<double>(ranking_.measured.begin()->second.median_ps) / 1e9;
    double ms = 0;
    for (const Setting setting : ranking_.race.settings())
      ms += std::max(timing_ms, kFewest * launch_ms * (is_warm(setting) ? 2 : 1) * (is_read(setting) ? 2 : 1));
    return static_cast<double>(runners) * ms / 1000;
  }

  /// Returns as many configs as the heat's share of the time allows: fewer are better than none.
  [[nodiscard]] std::size_t runners_of(const Heat& heat, std::size_t number) const {
    const double seconds = kHeatShares[number] * budget_.left_for_race();
    std::size_t runners = heat.runners;
    while (runners > 2 && round_seconds(runners, heat.timing_ms) > seconds) --runners;
    return runners;
  }

  enum class Round : std::uint8_t {
    complete,
    failed,  ///< a config was wrong
    ended,   ///< by the budget or by an interruption
  };

  /// Times each config in every setting, on buffers of one placement.
  Result<Round> run_round(const std::vector<std::size_t>& runners, double timing_ms) {
    const double timing_seconds = round_seconds(runners.size(), timing_ms);
    if (stopped() || !budget_.allows_heat(timing_seconds)) return Round::ended;
    const double before = budget_.spent();
    ++placements_;
    RaceResults::Samples samples;
    for (const Setting setting : ranking_.race.settings()) {
      PADLOCK_TRY(const Round round, run_heat(runners, setting, timing_ms, samples));
      if (round != Round::complete) return round;
    }
    for (const auto& [index, in_settings] : samples) add_samples(index, in_settings.front());
    ranking_.race.add(std::move(samples));
    for (const std::size_t index : runners) PADLOCK_CHECK(keep_ratios(index));
    budget_.took_heat(budget_.spent() - before, timing_seconds);
    report(true);
    return Round::complete;
  }

  Result<Round> run_heat(const std::vector<std::size_t>& runners, Setting setting, double timing_ms,
                         RaceResults::Samples& samples) {
    Trial trial{.config = candidates_[runners.front()].config,
                .sizes = sizes_,
                .placement = placements_,
                .setting = setting,
                .timing_ms = timing_ms,
                .limit_seconds = budget_.limit_of_try()};
    for (std::size_t i = 1; i < runners.size(); ++i) trial.rivals.push_back(candidates_[runners[i]].config);
    PADLOCK_TRY(std::optional<TryResult> tried, attempt(trial));
    if (!tried) return Round::ended;
    TryResult& result = *tried;
    const bool complete = !result.samples_ps.empty() && result.rivals_ps.size() + 1 == runners.size();
    if (result.verdict != Verdict::ok || !complete) return isolate_failure(runners);
    result.rivals_ps.insert(result.rivals_ps.begin(), std::move(result.samples_ps));
    for (std::size_t i = 0; i < runners.size(); ++i) samples[runners[i]].push_back(std::move(result.rivals_ps[i]));
    return Round::complete;
  }

  /// Records a race's results for a config, relative to the default.
  Status keep_ratios(std::size_t index) {
    Measurement& m = ranking_.measured[index];
    if (ranking_.race.contains(0)) m.ratios = ranking_.race.ratios(index);
    return options_.keep ? options_.keep(m) : Status();
  }

  /// A config in a heat is wrong. Tries each alone to find it. A config that the time does not allow to try cannot win.
  Result<Round> isolate_failure(const std::vector<std::size_t>& runners) {
    ranking_.race.clear();
    ranking_.suspects.insert(runners.begin(), runners.end());
    for (const std::size_t index : runners) {
      if (stopped()) break;
      PADLOCK_TRY(const bool done, measure_config(index, kFirstTimingMs, index == 0 ? 0 : budget_.limit_of_try()));
      if (!done) break;
      ranking_.suspects.erase(index);
    }
    return Round::failed;
  }

  /// Chooses the first winner, in order, that is also right at the awkward sizes.
  Status choose() {
    while (const std::optional<std::size_t> index = ranking_.winner()) {
      PADLOCK_TRY(const Check check, check_awkward_sizes(*index, check_count()));
      if (outcome_.interrupted) return {};
      if (check == Check::wrong) {  // its measurement is now a failure; the configs behind it race again
        ranking_.race.clear();
        PADLOCK_CHECK(race());
        continue;
      }
      if (check == Check::right) {
        accept(*index, *index == 0 ? reason_for_default() : reason_for_winner());
      } else {
        choose_without_checks(*index);
      }
      return {};
    }
    outcome_.reason = fmt::format("no config survived: {}", counts());
    return {};
  }

  /// Takes the default if the budget ends before the winner, possibly the default itself, is checked.
  void choose_without_checks(std::size_t index) {
    const bool serves = ranking_.survives(0);
    const std::string ended =
        fmt::format("the budget ended before a faster config was checked at awkward sizes: {}; {}", counts(), advice());
    if (!serves)
      outcome_.reason = ended;
    else  // the default also runs unchosen
      accept(0, index == 0 ? reason_for_default() : ended);
  }

  void accept(std::size_t index, std::string reason) {
    outcome_.config = candidates_[index].config;
    outcome_.median_ps = ranking_.measured[index].median_ps;
    outcome_.ratios = ranking_.measured[index].ratios;
    if (const auto standard = ranking_.measured.find(0); standard != ranking_.measured.end())
      outcome_.default_ps = standard->second.median_ps;
    outcome_.reason = std::move(reason);
  }

  [[nodiscard]] std::string counts() const {
    return fmt::format("{} of {} configs {} measured", ranking_.measured.size(), order_.size(),
                       ranking_.measured.size() == 1 ? "was" : "were");
  }
  /// Returns why the default stays. A default without rivals beats nothing.
  [[nodiscard]] std::string reason_for_default() const {
    if (ranking_.measured.size() < 2 && order_.size() > 1)
      return fmt::format("the budget ended before another config than the default was tried: {}; {}", counts(),
                         advice());
    if (ranking_.measured.size() < 2) return fmt::format("the default alone was tried: {}", counts());
    if (ranking_.race.empty() && ranking_.other_survives())
      return fmt::format("the budget ended before the default was compared with others: {}; {}", counts(), advice());
    return fmt::format("no config beats the default: {}", counts());
  }
  /// Suggests a budget that would suffice, from the times so far.
  [[nodiscard]] std::string advice() const {
    const double seconds = budget_.enough(order_.size());
    return fmt::format("about {} s are enough", seconds < 10 ? std::ceil(seconds) : std::ceil(seconds / 5) * 5);
  }
  [[nodiscard]] std::string reason_for_winner() const {
    return fmt::format("the first config within {:.0f} % of the fastest: {}", 100 * kTie, counts());
  }

  /// Result of a config's checks at awkward sizes.
  enum class Check : std::uint8_t { right, wrong, unfinished };
  static constexpr std::array<std::int64_t, 2> kSkews = {0, 1};

  [[nodiscard]] std::size_t check_count() const { return kSkews.size() * options_.awkward.size(); }

  [[nodiscard]] TryPoint check_at(std::size_t number) const {
    return {.symbols = options_.awkward[number % options_.awkward.size()],
            .skew = kSkews[number / options_.awkward.size()]};
  }

  /// Continues the checks of this config where they ended, up to check number `end`, in one request.
  Result<Check> check_awkward_sizes(std::size_t index, std::size_t end) {
    std::size_t& next = checked_[index];
    while (next < end) {
      if (stopped() || !budget_.allows_check()) return Check::unfinished;
      const TryPoint first = check_at(next);
      Trial trial{.config = candidates_[index].config,
                  .sizes = first.symbols,
                  .skew = first.skew,
                  .limit_seconds = budget_.limit_of_check()};
      for (std::size_t i = next + 1; i < end; ++i) trial.further.push_back(check_at(i));
      PADLOCK_TRY(std::optional<TryResult> result, attempt(trial));
      if (!result) return Check::unfinished;
      const auto passed = static_cast<std::size_t>(std::max<std::int64_t>(result->passed, 0));
      if (is_wrong(result->verdict)) {
        const TryPoint wrong = check_at(std::min(next + passed, end - 1));
        result->message = fmt::format("at {}: {}", to_string(wrong.symbols), result->message);
        PADLOCK_CHECK(keep(index, *result));
        return Check::wrong;
      }
      next = std::min(next + std::max<std::size_t>(passed, 1), end);
    }
    return Check::right;
  }

  /// Returns nullopt if the try was interrupted or took too long.
  Result<std::optional<TryResult>> attempt(const Trial& trial) {
    ++outcome_.requests;
    outcome_.trials += 1 + static_cast<int>(trial.further.size());
    Result<TryResult> result = try_config_(trial);
    if (!result && result.error().code == Code::deadline_exceeded) return std::nullopt;
    // An interruption may also have ended the worker; the config is not to blame.
    if (!result && result.error().code == Code::cancelled) outcome_.interrupted = true;
    if (result && result->verdict != Verdict::ok && stopped()) outcome_.interrupted = true;
    if (outcome_.interrupted) return std::nullopt;
    if (!result) return std::unexpected(std::move(result).error());
    return *std::move(result);
  }

  /// Returns false if there was no result.
  Result<bool> measure_config(std::size_t index, double timing_ms, double limit_seconds) {
    PADLOCK_TRY(const std::optional<TryResult> result, attempt({.config = candidates_[index].config,
                                                                .sizes = sizes_,
                                                                .setting = ranking_.race.settings().front(),
                                                                .timing_ms = timing_ms,
                                                                .next = next_of(index),
                                                                .limit_seconds = limit_seconds}));
    if (result) PADLOCK_CHECK(keep(index, *result));
    return result.has_value();
  }

  /// Returns the few configs that are tried after a config.
  [[nodiscard]] std::vector<std::string> next_of(std::size_t index) const {
    std::vector<std::string> list;
    const auto found = std::ranges::find(order_, index);
    if (found == order_.end()) return list;
    for (auto at = found + 1; at != order_.end() && list.size() < kMostNext; ++at)
      if (!known_.contains(candidates_[*at].config)) list.push_back(candidates_[*at].config);
    return list;
  }

  /// Adds samples of the first setting to a config's measurement.
  void add_samples(std::size_t index, const std::vector<std::int64_t>& samples) {
    Measurement& m = ranking_.measured[index];
    m.samples_ps.insert(m.samples_ps.end(), samples.begin(), samples.end());
    if (m.samples_ps.size() > kMostSamples) m.samples_ps.resize(kMostSamples);
    const MedianEstimate estimate = estimate_median(m.samples_ps);
    m.median_ps = estimate.median;
    m.noise_ps = estimate.half_width;
  }

  /// Adds a result to a config's measurement, and keeps that.
  Status keep(std::size_t index, const TryResult& result) {
    Measurement& m = ranking_.measured[index];
    m.regime = options_.regime;
    m.region = region_;
    m.config = candidates_[index].config;
    m.sizes = sizes_;
    m.verdict = result.verdict;
    m.provenance = provenance_now(options_.seed);
    if (result.verdict != Verdict::ok) {
      ranking_.race.erase(index);
      m.samples_ps.clear();
      m.median_ps = m.noise_ps = 0;
      m.ratios.reset();
      m.message = printable(result.message);
    } else {
      add_samples(index, result.samples_ps);
    }
    return options_.keep ? options_.keep(m) : Status();
  }

  void report(bool racing) {
    if (!options_.progress) return;
    const std::optional<std::size_t> best = ranking_.fastest();
    const double left = budget_.left(), each = budget_.spent() / std::max(tried_, 1);
    // The race takes about its share of the budget.
    const double estimate = racing ? left
                                   : each * static_cast<double>(static_cast<int>(order_.size()) - tried_) +
                                         budget_.race_share() * options_.budget_seconds;
    options_.progress({.tried = tried_,
                       .candidates = static_cast<int>(order_.size()),
                       .racing = racing,
                       .best = best ? candidates_[*best].config : "",
                       .best_ps = best ? ranking_.measured[*best].median_ps : 0,
                       .seconds = budget_.spent(),
                       .seconds_left = std::min(left, estimate)});
  }

  const std::string& region_;
  const Sizes& sizes_;
  const std::vector<Candidate>& candidates_;
  const SearchOptions& options_;
  const TryFunction& try_config_;
  std::map<std::string, Measurement> known_;  // by config
  std::vector<std::size_t> order_;
  Ranking ranking_;
  SearchOutcome outcome_;
  std::int64_t placements_ = 0;  // placements of the race
  SearchBudget budget_;
  std::map<std::size_t, std::size_t> checked_;  // number of passed checks of each config
  int tried_ = 0;
  bool probed_ = false;
};

}  // namespace

Result<SearchOutcome> search_region(const std::string& region, const Sizes& sizes,
                                    const std::vector<Candidate>& candidates, const SearchOptions& options,
                                    const TryFunction& try_config) {
  if (candidates.empty()) return invalid_argument("expected configs to search among, found none");
  return RegionSearch(region, sizes, candidates, options, try_config).run();
}

}  // namespace padlock::tuner
