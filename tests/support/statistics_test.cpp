#include "support/statistics.h"

#include <doctest/doctest.h>

#include <vector>

namespace padlock {

TEST_CASE("median") {
  CHECK(median({}) == 0);
  CHECK(median(std::vector{5.0}) == 5);
  CHECK(median(std::vector{9.0, 1.0, 5.0}) == 5);
  CHECK(median(std::vector{9.0, 1.0, 5.0, 4.0}) == 4.5);
}

TEST_CASE("bootstrap: the interval holds the median and is as wide as the samples are noisy") {
  std::vector<double> quiet(30, 2.0);
  const Estimate exact = bootstrap_median(quiet, 1);
  CHECK(exact.value == 2);
  CHECK(exact.low == 2);
  CHECK(exact.high == 2);

  std::vector<double> noisy;
  for (int i = 0; i < 31; ++i) noisy.push_back(1 + i % 7);
  const Estimate e = bootstrap_median(noisy, 1);
  CHECK(e.value == 4);
  CHECK(e.low < 4);
  CHECK(e.high > 4);
  CHECK(e.low >= 1);
  CHECK(e.high <= 7);
}

TEST_CASE("bootstrap: the seed decides") {
  const std::vector<double> samples{1.0, 1.7, 2.1, 2.9, 3.3, 4.8, 5.2, 6.1, 7.9};
  const Estimate a = bootstrap_median(samples, 7, 50);
  const Estimate b = bootstrap_median(samples, 7, 50);
  CHECK(a.low == b.low);
  CHECK(a.high == b.high);
}

TEST_CASE("bootstrap: of nothing") {
  CHECK(bootstrap_median({}, 1).high == 0);
  CHECK(bootstrap_median(std::vector{1.0}, 1, 0).value == 0);
}

}  // namespace padlock
