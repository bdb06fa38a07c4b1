#pragma once

#include <cstddef>
#include <functional>

namespace padlock::tuner {

/// SearchBudget divides the time of a search: first tries, then a race, last the checks of the winner. It predicts each
/// from earlier ones, and nothing begins that would not end in time.
class SearchBudget {
 public:
  /// `clock`: seconds; empty: the steady clock. `race_share`: the race's share of the time before the last checks. Time
  /// starts now.
  SearchBudget(double seconds, std::function<double()> clock, double race_share);

  [[nodiscard]] double spent() const;
  [[nodiscard]] double left() const;
  [[nodiscard]] double left_for_race() const;
  [[nodiscard]] double race_share() const { return race_share_; }

  /// Returns about how many seconds suffice for `tries` tries and their race, from the times so far.
  [[nodiscard]] double enough(std::size_t tries) const;

  [[nodiscard]] bool allows_try() const;
  /// `timing_seconds`: the heat's time without preparation.
  [[nodiscard]] bool allows_heat(double timing_seconds) const;
  [[nodiscard]] bool allows_check() const;

  /// Returns the seconds after which a try for the race, or a check, is given up: slightly past the end of the budget.
  /// At least kShortest.
  [[nodiscard]] double limit_of_try() const;
  [[nodiscard]] double limit_of_check() const;

  void took_first(double seconds) { first_seconds_ = seconds; }
  void took_try(double seconds) { try_seconds_ = seconds; }
  /// `timing_seconds`: as for allows_heat.
  void took_heat(double seconds, double timing_seconds) { heat_overhead_ = seconds - timing_seconds; }
  /// `seconds`: of the first checks; all checks of a config are `times` as many. Their time is set aside from now on.
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
