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

/// Part of the best time within which two configs are as good as each other: the earlier one is taken. A second tuning
/// shall choose the same, and what two tunings find of two configs differs by 1 % or 2 %.
inline constexpr double kTie = 0.02;

/// Ranking holds what a search knows of its configs, by their numbers among the candidates, and says who may win. The
/// default is number 0. Borrows the candidates.
class Ranking {
 public:
  Ranking(const std::vector<Candidate>& candidates, std::vector<Setting> settings)
      : race(std::move(settings)), candidates_(candidates) {}

  std::map<std::size_t, Measurement> measured;
  RaceResults race;                // of the last heat's runners; empty: there was none
  std::set<std::size_t> suspects;  // of a race in which somebody was wrong

  /// Returns whether a config that was measured is right, as far as is known.
  [[nodiscard]] bool survives(std::size_t index) const;
  [[nodiscard]] bool other_survives() const;
  /// Survivors that may be the best, in the candidates' order, `most` of them; the default is always among them, since
  /// the others are compared with it. Where there are many the fastest few, and of those that are as good as the
  /// fastest the earliest, which win: who is left out shall not be a matter of noise.
  [[nodiscard]] std::vector<std::size_t> finalists(std::size_t most) const;
  /// Of all that may win, or of those that store past the caches, or not.
  [[nodiscard]] std::optional<std::size_t> fastest(std::optional<bool> past_caches = {}) const;
  /// Returns whether another config looks better than the default, and may not be.
  [[nodiscard]] bool in_doubt() const;
  /// The earliest that is as good as the fastest. The default stays unless there is no doubt that another is better.
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
