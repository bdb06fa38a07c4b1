#include "support/statistics.h"

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace padlock {
namespace {

double median_in_place(std::vector<double>& samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

}  // namespace

double median(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  return median_in_place(copy);
}

Estimate bootstrap_median(std::span<const double> samples, std::uint64_t seed, int resamples) {
  if (samples.empty() || resamples <= 0) return {};
  std::mt19937_64 random(seed);
  std::vector<double> medians;
  std::vector<double> drawn(samples.size());
  for (int i = 0; i < resamples; ++i) {
    // The remainder's bias is below 2^-50 for any number of samples here; std::uniform_int_distribution would differ
    // between standard libraries.
    for (double& d : drawn) d = samples[random() % samples.size()];
    medians.push_back(median_in_place(drawn));
  }
  std::sort(medians.begin(), medians.end());
  const auto at = [&](double quantile) { return medians[static_cast<std::size_t>(quantile * (resamples - 1))]; };
  return {median(samples), at(0.025), at(0.975)};
}

}  // namespace padlock
