#include "tuner/search/race.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

#include "tuner/trial/measure.h"

namespace padlock::tuner {
namespace {

// A smaller loss does not count, whatever the noise.
constexpr double kLeastLoss = 0.005;
constexpr double kMillion = 1e6;

/// Returns the geometric mean of value_of(i), taken as at least 1, for i in [0, count).
template <class ValueOf>
double mean_of(std::size_t count, const ValueOf& value_of) {
  double logarithms = 0;
  for (std::size_t i = 0; i < count; ++i)
    logarithms += std::log(static_cast<double>(std::max<std::int64_t>(value_of(i), 1)));
  return std::exp(logarithms / static_cast<double>(count));
}

}  // namespace

void RaceResults::add(Samples round) {
  for (auto& [config, fresh] : round) {
    std::vector<std::vector<std::int64_t>> all = std::move(samples_[config]);
    all.resize(settings_.size());
    for (std::size_t i = 0; i < all.size(); ++i) std::ranges::copy(fresh[i], std::back_inserter(all[i]));
    fresh = std::move(all);
  }
  samples_ = std::move(round);
}

double RaceResults::time_of(std::size_t config) const {
  return mean_of(settings_.size(), [&](std::size_t i) { return lower_quartile(samples_.at(config)[i]); });
}

double RaceResults::ratio(std::size_t config, std::size_t other) const {
  const auto median = [&](std::size_t i) { return paired_ratio(samples_.at(config)[i], samples_.at(other)[i]).median; };
  return mean_of(settings_.size(), median) / kMillion;
}

double RaceResults::noise(std::size_t config, std::size_t other) const {
  double squares = 0;
  for (std::size_t i = 0; i < settings_.size(); ++i)
    squares += std::pow(static_cast<double>(paired_ratio(samples_.at(config)[i], samples_.at(other)[i]).half_width), 2);
  return std::sqrt(squares) / kMillion / static_cast<double>(settings_.size());
}

bool RaceResults::loses(std::size_t config, double most) const {
  if (config == 0 || !contains(0) || !contains(config)) return false;
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const MedianEstimate ratio = paired_ratio(samples_.at(config)[i], samples_.at(0)[i]);
    const double noise = std::clamp(static_cast<double>(ratio.half_width) / kMillion, kLeastLoss, most);
    if (static_cast<double>(ratio.median) / kMillion > 1 + noise) return true;
  }
  return false;
}

Ratios RaceResults::ratios(std::size_t config) const {
  Ratios ratios;
  for (std::size_t i = 0; i < settings_.size(); ++i) {
    const MedianEstimate ratio = paired_ratio(samples_.at(config)[i], samples_.at(0)[i]);
    const std::string setting(name_of(settings_[i]));
    ratios.ppm[setting] = std::max<std::int64_t>(ratio.median, 1);
    ratios.noise_ppm[setting] = ratio.half_width;
  }
  return ratios;
}

}  // namespace padlock::tuner
