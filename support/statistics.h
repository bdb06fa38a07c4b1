#pragma once

#include <cstdint>
#include <span>

namespace padlock {

/// Returns the median; the mean of the two middle values if the number of samples is even. 0 without samples.
[[nodiscard]] double median(std::span<const double> samples);

/// A statistic with an interval that shows how far it can be trusted.
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Returns the median of `samples` with its 95 % percentile-bootstrap interval (Efron 1979) from `resamples`
/// resamplings. The same seed gives the same interval, on every machine. All 0 without samples.
[[nodiscard]] Estimate bootstrap_median(std::span<const double> samples, std::uint64_t seed, int resamples = 2000);

}  // namespace padlock
