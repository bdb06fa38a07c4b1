#include "bench/gpu/measure.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>

namespace padlock::bench::gpu {
namespace {

/// A clock's resolution keeps a sample from being shorter.
constexpr double kShortestMs = 1e-9;

Timing timing_of(const std::string& name, const std::vector<double>& samples, const std::vector<double>& baseline,
                 std::uint64_t seed) {
  std::vector<double> ratios;
  std::vector<double> differences;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    ratios.push_back(samples[i] / std::max(baseline[i], kShortestMs));
    differences.push_back(samples[i] - baseline[i]);
  }
  return {name, bootstrap_median(samples, seed), bootstrap_median(ratios, seed), bootstrap_median(differences, seed)};
}

}  // namespace

Result<std::vector<Timing>> measure(const std::vector<Contestant>& contestants, int rounds, std::uint64_t seed) {
  std::vector<Contestant> all = contestants;
  if (!all.empty()) all.insert(all.begin() + 1, {all[0].name + " again", all[0].sample_ms});
  std::vector<std::vector<double>> samples(all.size());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(seed);
  for (int round = -1; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t i : order) {
      PADLOCK_TRY(const double ms, all[i].sample_ms());
      if (round >= 0) samples[i].push_back(ms);
    }
  }
  std::vector<Timing> timings;
  for (std::size_t i = 0; i < all.size(); ++i) timings.push_back(timing_of(all[i].name, samples[i], samples[0], seed));
  return timings;
}

}  // namespace padlock::bench::gpu
