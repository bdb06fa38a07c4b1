#include "support/paired_benchmark.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace padlock {
namespace {

// One warm-up call, and of each sample one that counts and one before it.
constexpr TimingOptions kQuick{.rounds = 8, .warm_up_ms = 0, .sample_ms = 0};

}  // namespace

TEST_CASE("the baseline takes part twice and everybody runs in every round") {
  std::string calls;
  const Comparison c = compare("title", 1e6, {{"copy", [&] { calls += 'c'; }}, {"pad", [&] { calls += 'p'; }}}, kQuick);
  CHECK(c.title == "title");
  REQUIRE(c.rows.size() == 3);
  CHECK(c.rows[0].name == "copy");
  CHECK(c.rows[1].name == "copy again");
  CHECK(c.rows[2].name == "pad");
  for (const TimedRow& row : c.rows) CHECK(row.samples_ms.size() == 8);

  REQUIRE(calls.size() == 3 + 8 * 3 * 2);
  CHECK(calls.starts_with("ccp"));
  bool shuffled = false;
  for (std::size_t round = 0; round < 8; ++round) {
    const std::string order = calls.substr(3 + 6 * round, 6);
    CHECK(order.find("pp") % 2 == 0);
    CHECK(std::count(order.begin(), order.end(), 'p') == 2);
    shuffled |= order != calls.substr(3, 6);
  }
  CHECK(shuffled);
}

TEST_CASE("the baseline's own ratio is one, and bytes give a rate") {
  volatile int sink = 0;
  const auto work = [&] {
    for (int i = 0; i < 1000; ++i) sink = i;
  };
  const Comparison c = compare("", 1e6, {{"a", work}, {"b", work}}, kQuick);
  CHECK(c.rows[0].ratio.low == 1);
  CHECK(c.rows[0].ratio.high == 1);
  CHECK(c.rows[0].median_ms > 0);
  CHECK(c.rows[0].gb_per_s == doctest::Approx(1.0 / c.rows[0].median_ms));
  CHECK(compare("", 0, {{"a", work}}, kQuick).rows[0].gb_per_s == 0);
}

TEST_CASE("a fast contestant runs several times a sample") {
  // By a clock of its own, of 0.125 ms a call: eight are a sample of 1 ms.
  std::vector<int> calls;
  const auto clock = [&](int count) -> std::optional<double> {
    calls.push_back(count);
    return 0.125 * count;
  };
  (void)compare("", 0, {{"a", {}, clock}}, {.rounds = 1, .warm_up_ms = 1, .sample_ms = 1});
  // The baseline takes part twice: its two warm-ups, then a call and a sample each.
  CHECK(calls == std::vector<int>{1, 8, 1, 8, 1, 8, 1, 8});
}

TEST_CASE("who is far behind its rival takes part in the first rounds only") {
  // They have clocks of their own, which report long times without waiting. A sample is two calls.
  const auto takes = [](std::vector<double> ms) {
    return [ms = std::move(ms), calls = std::size_t{0}](int) mutable -> std::optional<double> {
      return ms[std::min((calls++ + 1) / 2, ms.size() - 1)];
    };
  };
  TimingOptions options{.rounds = 8, .least_rounds = 2, .beaten_ratio = 2, .warm_up_ms = 0, .sample_ms = 0};
  // The first time of each is its warm-up.
  const std::vector<Contestant> contestants = {{"ours", {}, takes({1, 1, 1.5})},
                                               {"far", {}, takes({3, 4, 3}), "ours"},
                                               {"once as slow", {}, takes({9, 9, 2.9}), "ours"},
                                               {"close", {}, takes({1.2}), "ours"},
                                               {"far from nobody", {}, takes({9})}};
  const Comparison c = compare("", 0, contestants, options);
  for (const auto& [name, rounds] : {std::pair("far", 2), std::pair("once as slow", 8), std::pair("close", 8),
                                     std::pair("far from nobody", 8), std::pair("ours", 8)}) {
    CAPTURE(name);
    CHECK(c.find(name)->samples_ms.size() == rounds);
  }
  // In two rounds, 4/1 and 3/1.5.
  CHECK(speed_ratio(*c.find("ours"), *c.find("far"), 1).low == doctest::Approx(2));

  // No time is left: contestants that are close continue beyond the least rounds, if there are any.
  options.budget_ms = 1e-9;
  CHECK(compare("", 0, contestants, options).find("close")->samples_ms.size() == 2);
  options.close_rounds = 5;
  const Comparison longer = compare("", 0, contestants, options);
  CHECK(longer.find("close")->samples_ms.size() == 5);
  CHECK(longer.find("far")->samples_ms.size() == 2);
  CHECK(compare("", 0, {contestants[0], contestants[1]}, options).find("ours")->samples_ms.size() == 2);

  // The ratio of a contestant with two alternating times has a wide interval; a steady one has none.
  std::vector<double> unsteady = {1};
  for (int i = 0; i < 8; ++i) unsteady.push_back(i % 2 == 0 ? 0.95 : 1.2);
  std::vector<double> slower = {1};
  for (int i = 0; i < 8; ++i) slower.push_back(i % 2 == 0 ? 1.3 : 1.5);
  options.close_rounds = 3;
  options.close_interval = 0.04;
  const Comparison undecided = compare("", 0,
                                       {{"ours", {}, takes({1})},
                                        {"steady", {}, takes({1.02}), "ours"},
                                        {"unsteady", {}, takes(unsteady), "ours"},
                                        {"slower", {}, takes(slower), "ours"}},
                                       options);
  CHECK(undecided.find("ours")->samples_ms.size() == 8);
  CHECK(undecided.find("unsteady")->samples_ms.size() == 8);
  CHECK(undecided.find("steady")->samples_ms.size() == 3);
  CHECK(undecided.find("slower")->samples_ms.size() == 3);

  options.budget_ms = options.beaten_ratio = 0;
  CHECK(compare("", 0, contestants, options).find("far")->samples_ms.size() == 8);
}

TEST_CASE("nobody takes part") { CHECK(compare("", 0, {}, kQuick).rows.empty()); }

}  // namespace padlock
