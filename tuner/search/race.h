#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tuner/cache/record.h"
#include "tuner/cache/regime.h"

namespace padlock::tuner {

/// RaceResults holds samples of configs that were timed in turn, in several settings, and compares them pair by pair.
/// Configs are numbers; 0 is the default.
class RaceResults {
 public:
  /// By config and by setting. All configs have equally many samples, and the i-th samples of all were taken one right
  /// after the other.
  using Samples = std::map<std::size_t, std::vector<std::vector<std::int64_t>>>;

  explicit RaceResults(std::vector<Setting> settings) : settings_(std::move(settings)) {}

  [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] bool contains(std::size_t config) const { return samples_.contains(config); }
  void clear() { samples_.clear(); }
  void erase(std::size_t config) { samples_.erase(config); }
  /// Adds one round; a config that is not in it leaves the race.
  void add(Samples round);

  // Preconditions: contains() each config.
  /// Returns picoseconds: the lower quartile, as the geometric mean over settings.
  [[nodiscard]] double time_of(std::size_t config) const;
  /// Returns a config's time divided by another's: medians of ratios, as the geometric mean over settings.
  [[nodiscard]] double ratio(std::size_t config, std::size_t other) const;
  /// Returns half the width of that ratio's confidence interval.
  [[nodiscard]] double noise(std::size_t config, std::size_t other) const;
  /// Returns whether a config is slower than the default in any setting by more than the noise (at most `most`) and by
  /// more than a negligible loss. False if the default is not in the race.
  [[nodiscard]] bool loses(std::size_t config, double most) const;
  /// Returns a config's times divided by those of the default.
  [[nodiscard]] Ratios ratios(std::size_t config) const;

 private:
  std::vector<Setting> settings_;
  Samples samples_;
};

}  // namespace padlock::tuner
