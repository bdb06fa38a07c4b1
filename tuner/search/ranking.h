#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tuner/cache/record.h"
#include "tuner/search/race.h"
#include "tuner/search/strategy.h"

namespace padlock::tuner {

/// Two configs within this part of the best time tie, and the earlier is taken. A second tuning should choose the same
/// config, and two tunings measure two configs 1 % or 2 % apart.
inline constexpr double kTie = 0.02;

/// Ranking holds a search's knowledge of its configs, by their numbers among the candidates, and decides which may win.
/// The default is number 0. Borrows the candidates.
class Ranking {
 public:
  Ranking(const std::vector<Candidate>& candidates, std::vector<Setting> settings)
      : race(std::move(settings)), candidates_(candidates) {}

  std::map<std::size_t, Measurement> measured;
  RaceResults race;                // results of the last heat's configs; empty before a race
  std::set<std::size_t> suspects;  // configs of a race in which one was wrong

  /// Returns whether a measured config is right, as far as is known.
  [[nodiscard]] bool survives(std::size_t index) const;
  [[nodiscard]] bool other_survives() const;
  /// Returns at most `most` survivors that may be the best, in the candidates' order. The default is always among them,
  /// since the others are compared with it. If there are too many, takes the fastest few, and among ties the earliest,
  /// which win: noise should not decide who is left out.
  [[nodiscard]] std::vector<std::size_t> finalists(std::size_t most) const;
  /// Returns the fastest of all that may win, or only of those that store past the caches, or do not.
  [[nodiscard]] std::optional<std::size_t> fastest(std::optional<bool> past_caches = {}) const;
  /// Returns whether another config looks better than the default without certainty.
  [[nodiscard]] bool in_doubt() const;
  /// Returns the earliest config that ties with the fastest. The default stays unless another is better beyond doubt.
  [[nodiscard]] std::optional<std::size_t> winner() const;

 private:
  [[nodiscard]] bool may_win(std::size_t index) const;
  [[nodiscard]] std::optional<bool> kind_of(std::size_t index) const;
  [[nodiscard]] double time_of(std::size_t index) const;
  [[nodiscard]] double behind(std::size_t index, std::size_t best) const;
  [[nodiscard]] double noise_of(std::size_t index, std::size_t best) const;

  const std::vector<Candidate>& candidates_;
};

}  // namespace padlock::tuner
