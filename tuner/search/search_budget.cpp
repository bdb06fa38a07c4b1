#include "tuner/search/search_budget.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace padlock::tuner {
namespace {

// The time of one try does not predict the next exactly. So much of the budget may be exceeded by a try that began
// before its end, and by nearly finished checks of a winner.
constexpr double kGrace = 0.05;
constexpr double kCheckGrace = 0.1;

// The first checks are at the smallest sizes; later ones take longer.
constexpr double kLaterChecks = 1.25;
// A cap, as a share of the budget: the machine may have been slow during the first checks.
constexpr double kMostForChecks = 0.5;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

SearchBudget::SearchBudget(double seconds, std::function<double()> clock, double race_share)
    : seconds_(seconds), clock_(clock ? std::move(clock) : steady_seconds), begin_(clock_()), race_share_(race_share) {}

double SearchBudget::spent() const { return clock_() - begin_; }
double SearchBudget::left() const { return std::max(0.0, seconds_ - spent()); }

double SearchBudget::left_for_race() const { return std::max(0.0, before_checks() - spent()); }

double SearchBudget::enough(std::size_t tries) const {
  // Without a later try to learn from: a later try takes less than the first, which made what all share.
  constexpr double kUsual = 0.04, kLarger = 1.5;
  const double each = try_seconds_ > 0 ? try_seconds_ : std::min(first_seconds_, kUsual);
  const double all = first_seconds_ + each * static_cast<double>(tries);
  return std::max(all / (1 - race_share_) + reserve_, kLarger * seconds_);
}

bool SearchBudget::allows_try() const { return spent() + try_seconds_ < before_checks() * (1 - race_share_); }

bool SearchBudget::allows_heat(double timing_seconds) const {
  return spent() + timing_seconds + heat_overhead_ < before_checks();
}

bool SearchBudget::allows_check() const { return spent() < seconds_; }

double SearchBudget::limit_of_try() const { return std::max(kShortest, before_checks() + kGrace * seconds_ - spent()); }

double SearchBudget::limit_of_check() const { return std::max(kShortest, seconds_ * (1 + kCheckGrace) - spent()); }

void SearchBudget::took_checks(double seconds, double times) {
  reserve_ = std::min(kMostForChecks * seconds_, kLaterChecks * seconds * times);
}

}  // namespace padlock::tuner
