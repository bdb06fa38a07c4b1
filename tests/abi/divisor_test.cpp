#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "abi/kernel_abi.h"
#include "support/int128.h"
#include "tests/common/environment.h"
#include "tests/common/rng.h"

namespace padlock::abi {

TEST_CASE("multiply-shift divides every number of 8 bits, and of 16 bits by every divisor") {
  for (std::uint64_t d = 1; d < 128; ++d)
    for (std::uint64_t n = 0; n < 128; ++n) REQUIRE(Divisor::of(d, 8).divide(n, 8) == n / d);
  // What is computed never falls as n grows: it is right everywhere if it is on both sides of every multiple.
  std::uint64_t wrong = 0;
  for (std::uint64_t d = 1; d < 32768; ++d) {
    const Divisor divisor = Divisor::of(d, 16);
    for (std::uint64_t n = 0; n < 32768; n += d)
      wrong += divisor.divide(n, 16) != n / d || divisor.divide(std::min<std::uint64_t>(n + d, 32768) - 1, 16) != n / d;
  }
  CHECK(wrong == 0);
}

TEST_CASE("multiply-shift divides numbers of 31 bits: corners, and random ones, in arithmetic of 32") {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << 31) - 1;
  const std::uint64_t seed = testing::seed_or(31);
  CAPTURE(seed);
  testing::Rng random(seed);
  std::vector<std::uint64_t> numbers = {0, 1, kLast, kLast / 3, kLast / 3 + 1};
  for (int bit = 1; bit < 31; ++bit)
    for (const int off : {-1, 0, 1})
      numbers.push_back((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(static_cast<std::int64_t>(off)));
  for (int i = 0; i < 1000; ++i)
    numbers.push_back(static_cast<std::uint64_t>(random.between(0, static_cast<std::int64_t>(kLast))) >>
                      random.between(0, 30));
  std::vector<std::uint64_t> divisors = numbers;
  divisors.push_back(kLast + 1);
  std::erase(divisors, 0);
  for (const std::uint64_t d : divisors) {
    const Divisor divisor = Divisor::of(d, 32);
    REQUIRE(divisor.multiplier < std::uint64_t{1} << 32);
    REQUIRE(divisor.shift < 32);
    const auto check = [&](std::uint64_t n) {
      const std::uint64_t high = (n * divisor.multiplier) >> 32;
      if ((high + n) >> 32 != 0 || divisor.divide(n, 32) != n / d) FAIL(n << " div " << d);
    };
    for (const std::uint64_t n : numbers) check(n);
    // Both sides of the largest multiples.
    const std::uint64_t most = kLast / d * d;
    for (const std::uint64_t n : {most, most - 1, most - d, kLast})
      if (n <= kLast) check(n);
  }
}

TEST_CASE("multiply-shift divides numbers of 63 bits: corners, and random ones") {
  constexpr std::uint64_t kLast = (std::uint64_t{1} << 63) - 1;
  const std::uint64_t seed = testing::seed_or(63);
  CAPTURE(seed);
  testing::Rng random(seed);
  std::vector<std::uint64_t> numbers = {0, 1, 2, 3, kLast, kLast - 1, kLast / 2, kLast / 2 + 1};
  for (int bit = 1; bit < 63; ++bit)
    for (const int off : {-1, 0, 1})
      numbers.push_back((std::uint64_t{1} << bit) + static_cast<std::uint64_t>(static_cast<std::int64_t>(off)));
  for (int i = 0; i < 400; ++i)
    numbers.push_back(static_cast<std::uint64_t>(random.between(0, static_cast<std::int64_t>(kLast))) >>
                      random.between(0, 62));
  for (const std::uint64_t d : numbers) {
    if (d == 0 || d > kLast) continue;
    const Divisor divisor = Divisor::of(d);
    for (const std::uint64_t n : numbers)
      if (n <= kLast) REQUIRE(divisor.divide(n) == n / d);
  }
}

}  // namespace padlock::abi
