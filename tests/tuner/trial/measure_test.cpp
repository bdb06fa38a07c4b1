#include "tuner/trial/measure.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "ir/reference/numeric.h"
#include "tuner/trial/scratch_data.h"

namespace padlock::tuner {
namespace {

TEST_CASE("the median and its interval") {
  CHECK(estimate_median({}).median == 0);
  CHECK(estimate_median(std::vector<std::int64_t>{7}).median == 7);
  CHECK(estimate_median(std::vector<std::int64_t>{9, 1}).median == 5);
  CHECK(estimate_median(std::vector<std::int64_t>{9, 1}).half_width == 4);
  std::vector<std::int64_t> samples;
  for (int i = 100; i >= 0; --i) samples.push_back(i);
  // 101 samples: the interval of order statistics reaches 9.85 places to either side.
  CHECK(estimate_median(samples).median == 50);
  CHECK(estimate_median(samples).half_width == 10);
}

TEST_CASE("no noise stops after the fewest samples, noise goes on to the most") {
  const MeasuringPolicy policy{.warm_up_ms = 0, .sample_us = 1, .min_samples = 9, .max_samples = 40, .budget_ms = 1e6};
  std::int64_t runs = 0;
  const auto quiet = *measure(policy, [&](std::int64_t count) -> Result<std::int64_t> {
    runs += count;
    return 250'000 * count;
  });
  CHECK(quiet.samples_ps == std::vector<std::int64_t>(9, 250'000));
  CHECK(runs == 1 + 9 * 4);  // 1 us is four runs of 250 ns
  CHECK(quiet.estimate.half_width == 0);
  std::int64_t call = 0;
  const auto noisy = *measure(policy, [&](std::int64_t count) -> Result<std::int64_t> {
    return count * (++call % 2 == 0 ? 2'000'000 : 3'000'000);
  });
  CHECK(noisy.samples_ps.size() == 40);
}

TEST_CASE("a budget that is spent stops after three samples, and an error stops at once") {
  const MeasuringPolicy policy{.warm_up_ms = 0, .budget_ms = 1e-9};
  CHECK(measure(policy, [](std::int64_t count) -> Result<std::int64_t> { return count; })->samples_ps.size() == 3);
  const auto failed = measure(policy, [](std::int64_t) -> Result<std::int64_t> { return internal_error("broken"); });
  CHECK(failed.error().message == "broken");
}

TEST_CASE("samples of a throttled device are discarded, but where there are no others") {
  const MeasuringPolicy policy{.warm_up_ms = 0, .sample_us = 1, .min_samples = 5, .max_samples = 40, .budget_ms = 1e6};
  // Throttled after every fourth sample: that one is discarded, and the one after it.
  std::int64_t sample = 0;
  const auto runs = [&](std::int64_t count) -> Result<std::int64_t> {
    ++sample;
    return count * (sample % 4 == 0 || sample % 4 == 1 ? 3'000'000 : 2'000'000);
  };
  const auto some = *measure(policy, runs, [&] { return sample % 4 == 0; });
  CHECK(some.samples_ps == std::vector<std::int64_t>(5, 2'000'000));
  CHECK(some.throttled > 0);
  const auto always = [] { return true; };
  const auto all = *measure(policy, [](std::int64_t count) -> Result<std::int64_t> { return 7 * count; }, always);
  CHECK(all.samples_ps.size() == 40);
  CHECK(all.throttled == 40);
  CHECK(all.estimate.median == 7);
}

TEST_CASE("in turn, what changes changes for all, and it ends when it is known who is how much slower") {
  const MeasuringPolicy policy{.warm_up_ms = 0, .sample_us = 1, .min_samples = 9, .max_samples = 80, .budget_ms = 1e6};
  std::int64_t call = 0;
  std::vector<std::size_t> order;
  const auto runner = [&](std::size_t index, std::int64_t ps) -> TimedRuns {
    return [&, index, ps](std::int64_t count) -> Result<std::int64_t> {
      order.push_back(index);
      return count * ps * (1 + ++call / 30);  // slower and slower
    };
  };
  const std::vector<TimedRuns> runs = {runner(0, 3'000'000), runner(1, 2'000'000), runner(2, 2'010'000)};
  const RaceTiming race = *measure_in_turn(policy, runs);
  REQUIRE(race.samples_ps.size() == 3);
  for (const auto& samples : race.samples_ps) CHECK(samples.size() == race.samples_ps.front().size());
  CHECK(race.samples_ps.front().size() >= 9);
  CHECK(race.samples_ps.front().size() < 80);
  CHECK(fastest_of(race.samples_ps) == 1);
  CHECK(paired_ratio(race.samples_ps[0], race.samples_ps[1]).median == doctest::Approx(1'500'000).epsilon(0.001));
  CHECK(paired_ratio(race.samples_ps[2], race.samples_ps[1]).median == doctest::Approx(1'005'000).epsilon(0.001));
  // After the warm-up the order rotates.
  CHECK(std::vector(order.begin() + 3, order.begin() + 9) == std::vector<std::size_t>{0, 1, 2, 1, 2, 0});
  // Rounds of a throttled device are discarded as a whole.
  bool slow = false;
  const auto toggled = [&] { return slow = !slow; };
  CHECK(measure_in_turn({.warm_up_ms = 0, .max_samples = 40, .noise = 0, .budget_ms = 1e6}, runs, toggled)->throttled ==
        40);
  const MeasuringPolicy spent{.warm_up_ms = 0, .budget_ms = 1e-9};
  CHECK(measure_in_turn(spent, runs)->samples_ps.back().size() == 3);
  const std::vector<TimedRuns> broken = {runs[0],
                                         [](std::int64_t) -> Result<std::int64_t> { return internal_error("broken"); }};
  CHECK(measure_in_turn(policy, broken).error().message == "broken");
}

TEST_CASE("a clock is throttled by its own fastest reading") {
  ClockWatch watch;
  CHECK_FALSE(watch.is_throttled(1000));
  CHECK_FALSE(watch.is_throttled(2000));
  CHECK_FALSE(watch.is_throttled(1900));
  CHECK(watch.is_throttled(1650));
  CHECK_FALSE(watch.is_throttled(std::nullopt));
  CHECK_FALSE(watch.is_throttled(2100));
}

TEST_CASE("the full domain has every kind of value, the plain one has numbers alone") {
  for (const ir::DType dtype : {ir::DType::f16, ir::DType::bf16, ir::DType::f32, ir::DType::f64}) {
    std::vector<std::byte> bytes(10'000 * static_cast<std::size_t>(ir::byte_size(dtype)));
    const ir::FloatFormat format = ir::format_of(dtype);
    int nans = 0, infinities = 0, negative_zeros = 0, denormals = 0;
    const auto count = [&] {
      nans = infinities = negative_zeros = denormals = 0;
      for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(ir::byte_size(dtype))) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + at, static_cast<std::size_t>(ir::byte_size(dtype)));
        const std::uint64_t magnitude = bits & ~format.sign_mask();
        nans += ir::is_nan(dtype, bits) ? 1 : 0;
        infinities += magnitude == format.infinity() ? 1 : 0;
        negative_zeros += bits == format.sign_mask() ? 1 : 0;
        denormals += magnitude != 0 && magnitude <= format.fraction_mask() ? 1 : 0;
      }
    };
    fill_data(bytes, dtype, Domain::full, 1);
    count();
    for (const int kind : {nans, infinities, negative_zeros, denormals}) CHECK(kind > 50);
    fill_data(bytes, dtype, Domain::plain, 1);
    count();
    CHECK(nans + infinities + negative_zeros + denormals == 0);
  }
}

TEST_CASE("the same seed gives the same data, another one gives other data") {
  std::vector<std::byte> a(4000), b(4000), c(4000);
  fill_data(a, ir::DType::f32, Domain::full, 1);
  fill_data(b, ir::DType::f32, Domain::full, 1);
  fill_data(c, ir::DType::f32, Domain::full, 2);
  CHECK(a == b);
  CHECK(a != c);
}

}  // namespace
}  // namespace padlock::tuner
