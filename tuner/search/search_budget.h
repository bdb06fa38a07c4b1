#pragma once

#include <cstddef>
#include <functional>

namespace padlock::tuner {

/// SearchBudget divides the time of one search: first tries, then a race, and last the checks of what won. What each
/// takes is learnt from what it took before, and nothing is begun that would not end in time.
class SearchBudget {
 public:
  /// `clock`: seconds; empty: the steady clock. `race_share`: of the time before the last checks, which tries leave to
  /// the race. The time begins now.
  SearchBudget(double seconds, std::function<double()> clock, double race_share);

  [[nodiscard]] double spent() const;
  [[nodiscard]] double left() const;
  [[nodiscard]] double left_for_race() const;
  [[nodiscard]] double race_share() const { return race_share_; }

  /// Returns about how many seconds are enough to try so many and to have them race, from what was learnt.
  [[nodiscard]] double enough(std::size_t tries) const;

  [[nodiscard]] bool allows_try() const;
  /// `timing_seconds`: what it is to take beside getting ready.
  [[nodiscard]] bool allows_heat(double timing_seconds) const;
  [[nodiscard]] bool allows_check() const;

  /// Seconds after which what is tried for the race, or checked, is given up: the budget is over by then, and a little
  /// more. At least kShortest.
  [[nodiscard]] double limit_of_try() const;
  [[nodiscard]] double limit_of_check() const;

  void took_first(double seconds) { first_seconds_ = seconds; }
  void took_try(double seconds) { try_seconds_ = seconds; }
  /// `timing_seconds`: as of allows_heat.
  void took_heat(double seconds, double timing_seconds) { heat_overhead_ = seconds - timing_seconds; }
  /// `seconds`: of some checks; a config has so many `times` as many. What all of them take is set aside from now on.
  void took_checks(double seconds, double times);

  static constexpr double kShortest = 0.05;

 private:
  /// Returns the seconds for tries and the race.
  [[nodiscard]] double before_checks() const { return seconds_ - reserve_; }

  double seconds_;
  std::function<double()> clock_;
  double begin_;
  double race_share_;
  double first_seconds_ = 0, try_seconds_ = 0, heat_overhead_ = 0, reserve_ = 0;
};

}  // namespace padlock::tuner
