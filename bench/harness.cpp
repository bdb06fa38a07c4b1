#include "bench/harness.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

namespace padlock::bench {
namespace {

constexpr int kMaxCallsPerSample = 1 << 20;

double time_calls_ms(const std::function<void()>& run, int calls) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) run();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

struct Runner {
  Contestant contestant;
  int calls_per_sample = 1;
  std::vector<double> samples_ms = {};
};

/// Runs the contestant until its warm-up is over; its last calls say how many make one sample.
void warm_up(Runner& runner, const Options& options) {
  double spent_ms = 0;
  int calls = 1;
  do {
    const double ms = time_calls_ms(runner.contestant.run, calls);
    spent_ms += ms;
    const double wanted = options.sample_ms * calls / std::max(ms, 1e-6);
    calls = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(kMaxCallsPerSample)));
  } while (spent_ms < options.warm_up_ms);
  runner.calls_per_sample = calls;
}

std::vector<Runner> runners_of(const std::vector<Contestant>& contestants) {
  std::vector<Runner> runners;
  for (const Contestant& c : contestants) {
    runners.push_back({c});
    if (runners.size() == 1) runners.push_back({{c.name + " again", c.run}});
  }
  return runners;
}

void run_rounds(std::vector<Runner>& runners, const Options& options) {
  std::mt19937_64 random(options.seed);
  std::vector<std::size_t> order(runners.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (int round = 0; round < options.rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      Runner& r = runners[i];
      r.samples_ms.push_back(time_calls_ms(r.contestant.run, r.calls_per_sample) / r.calls_per_sample);
    }
  }
}

Row row_of(const Runner& runner, const Runner& baseline, double bytes, std::uint64_t seed) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < runner.samples_ms.size(); ++i)
    ratios.push_back(runner.samples_ms[i] / std::max(baseline.samples_ms[i], 1e-9));
  Row row{.name = runner.contestant.name,
          .median_ms = median(runner.samples_ms),
          .ratio = bootstrap_median(ratios, seed),
          .samples_ms = runner.samples_ms};
  if (row.median_ms > 0) row.gb_per_s = bytes / row.median_ms * 1e-6;
  return row;
}

}  // namespace

Comparison compare(std::string title, double bytes, const std::vector<Contestant>& contestants,
                   const Options& options) {
  std::vector<Runner> runners = runners_of(contestants);
  for (Runner& r : runners) warm_up(r, options);
  run_rounds(runners, options);
  Comparison comparison{std::move(title), bytes, {}};
  for (const Runner& r : runners) comparison.rows.push_back(row_of(r, runners.front(), bytes, options.seed));
  return comparison;
}

}  // namespace padlock::bench
