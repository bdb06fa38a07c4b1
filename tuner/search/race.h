#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tuner/cache/record.h"
#include "tuner/cache/regime.h"

namespace padlock::tuner {

/// RaceResults hold the samples of configs that were timed in turn, in several settings, and compare them pair by pair.
/// Configs are numbers; 0 is the default.
class RaceResults {
 public:
  /// By config and by setting; of all configs the same number, the i-th of all taken one right after the other.
  using Samples = std::map<std::size_t, std::vector<std::vector<std::int64_t>>>;

  explicit RaceResults(std::vector<Setting> settings) : settings_(std::move(settings)) {}

  [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }
  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] bool contains(std::size_t config) const { return samples_.contains(config); }
  void clear() { samples_.clear(); }
  void erase(std::size_t config) { samples_.erase(config); }
  /// Adds one round; who is not in it is in the race no more.
  void add(Samples round);

  // Preconditions: contains() each config.
  /// Picoseconds: the lower quartile, as the geometric mean over settings.
  [[nodiscard]] double time_of(std::size_t config) const;
  /// Its time over that of another: medians of ratios, as the geometric mean over settings.
  [[nodiscard]] double ratio(std::size_t config, std::size_t other) const;
  /// Half the width of that ratio's confidence interval.
  [[nodiscard]] double noise(std::size_t config, std::size_t other) const;
  /// Returns whether a config is slower than the default in any setting by more than the noise, of which `most` counts
  /// at most, and by more than what is too little to matter. False where the default is not in the race.
  [[nodiscard]] bool loses(std::size_t config, double most) const;
  /// Its times over those of the default.
  [[nodiscard]] Ratios ratios(std::size_t config) const;

 private:
  std::vector<Setting> settings_;
  Samples samples_;
};

}  // namespace padlock::tuner
