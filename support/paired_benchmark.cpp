#include "support/paired_benchmark.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

namespace padlock {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxCallsPerSample = 1 << 20;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

struct Runner {
  Contestant contestant;
  int calls_per_sample = 1;
  std::vector<double> samples_ms = {};
  bool is_out = false;

  /// Returns the milliseconds of so many calls; 0 if the contestant is excluded.
  double time_calls_ms(int calls) {
    if (is_out) return 0;
    if (contestant.time_ms) {
      const std::optional<double> ms = contestant.time_ms(calls);
      is_out = !ms.has_value();
      return ms.value_or(0);
    }
    const auto start = Clock::now();
    for (int i = 0; i < calls; ++i) contestant.run();
    return milliseconds_since(start);
  }
};

/// Runs the contestant for its warm-up time. Its last calls decide how many calls make one sample.
void warm_up(Runner& runner, const TimingOptions& options) {
  double spent_ms = 0;
  int calls = 1;
  do {
    const double ms = runner.time_calls_ms(calls);
    spent_ms += ms;
    const double wanted = options.sample_ms * calls / std::max(ms, 1e-6);
    calls = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMaxCallsPerSample)));
  } while (spent_ms < options.warm_up_ms && !runner.is_out);
  runner.calls_per_sample = calls;
}

void take_sample(Runner& runner) {
  // An untimed call first loads the contestant's own data into the cache, and evicts lines that others wrote, whose
  // write-back the sample would pay for.
  (void)runner.time_calls_ms(1);
  runner.samples_ms.push_back(runner.time_calls_ms(runner.calls_per_sample) / runner.calls_per_sample);
}

std::vector<Runner> runners_of(const std::vector<Contestant>& contestants) {
  std::vector<Runner> runners;
  for (const Contestant& c : contestants) {
    runners.push_back({c});
    if (runners.size() > 1) continue;
    runners.push_back({c});
    runners.back().contestant.name += " again";
  }
  return runners;
}

/// Returns a / b for each round.
std::vector<double> quotients(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) ratios.push_back(a[i] / std::max(b[i], 1e-9));
  return ratios;
}

/// Returns the rival with which a runner is compared; end if it has none.
std::vector<Runner>::const_iterator rival_of(const Runner& runner, const std::vector<Runner>& runners) {
  return std::ranges::find(runners, runner.contestant.rival, [](const Runner& r) { return r.contestant.name; });
}

bool is_beaten(const Runner& runner, const std::vector<Runner>& runners, double ratio) {
  const auto rival = rival_of(runner, runners);
  return rival != runners.end() && std::ranges::min(runner.samples_ms) >= ratio * std::ranges::max(rival->samples_ms);
}

/// Returns whether a runner is excluded, or its ratio to its rival is known precisely enough. Precondition: it has a
/// rival.
bool is_settled(const Runner& runner, const std::vector<Runner>& runners, const TimingOptions& options) {
  const auto rival = rival_of(runner, runners);
  if (runner.is_out) return true;
  if (std::ssize(runner.samples_ms) < options.close_rounds) return false;
  const Estimate ratio = bootstrap_median(quotients(runner.samples_ms, rival->samples_ms), options.seed, 200);
  return ratio.high - ratio.low <= options.close_interval * ratio.value || ratio.low > 1.25 || ratio.high < 0.8;
}

void run_rounds(std::vector<Runner>& runners, const TimingOptions& options) {
  std::mt19937_64 random(options.seed);
  std::vector<std::size_t> order(runners.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto start = Clock::now();
  for (int round = 0; round < options.rounds; ++round) {
    if (round > 0 && round == options.least_rounds && options.beaten_ratio > 0)
      std::erase_if(order, [&](std::size_t i) { return is_beaten(runners[i], runners, options.beaten_ratio); });
    const bool is_over = options.budget_ms > 0 && milliseconds_since(start) >= options.budget_ms;
    if (round >= options.least_rounds && is_over) {
      // After the budget only unsettled runners continue, and runners without a rival, with which others are compared.
      const auto has_rival = [&](std::size_t i) { return rival_of(runners[i], runners) != runners.end(); };
      std::erase_if(order, [&](std::size_t i) { return has_rival(i) && is_settled(runners[i], runners, options); });
      if (std::ranges::none_of(order, has_rival)) return;
    }
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) take_sample(runners[i]);
  }
}

TimedRow row_of(const Runner& runner, const Runner& baseline, double bytes, std::uint64_t seed) {
  TimedRow row{.name = runner.contestant.name,
               .median_ms = median(runner.samples_ms),
               .ratio = bootstrap_median(quotients(runner.samples_ms, baseline.samples_ms), seed),
               .samples_ms = runner.samples_ms};
  if (row.median_ms > 0) row.gb_per_s = bytes / row.median_ms * 1e-6;
  return row;
}

}  // namespace

const TimedRow* Comparison::find(std::string_view name) const {
  const auto found = std::ranges::find(rows, name, &TimedRow::name);
  return found == rows.end() ? nullptr : &*found;
}

Comparison compare(std::string title, double bytes, const std::vector<Contestant>& contestants,
                   const TimingOptions& options) {
  std::vector<Runner> runners = runners_of(contestants);
  for (Runner& r : runners) warm_up(r, options);
  run_rounds(runners, options);
  Comparison comparison{std::move(title), bytes, {}};
  for (const Runner& r : runners)
    if (!r.is_out) comparison.rows.push_back(row_of(r, runners.front(), bytes, options.seed));
  return comparison;
}

Estimate speed_ratio(const TimedRow& row, const TimedRow& other, std::uint64_t seed) {
  return bootstrap_median(quotients(other.samples_ms, row.samples_ms), seed);
}

}  // namespace padlock
