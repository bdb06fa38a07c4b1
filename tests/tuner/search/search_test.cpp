// The search alone: a config is a number with a time, and the clock counts tries.

#include "tuner/search/search.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/common/environment.h"
#include "tests/tuner/search/fake_trials.h"
#include "tuner/search/cost_model.h"

namespace padlock::tuner {

using testing::FakeTrials;

TEST_CASE("the fastest is chosen, checked where sizes are awkward, and everything is kept") {
  FakeTrials fake({10, 9, 5, 8});
  const SearchOutcome outcome = fake.search();
  CHECK(outcome.config == "c=2");
  CHECK(outcome.requests == static_cast<int>(fake.log.size()));
  CHECK(outcome.trials == outcome.requests + 2 + 3);  // of the four checks, first of one config and then of another
  CHECK(fake.kept.size() == 4);
  CHECK(outcome.default_ps > outcome.median_ps);
  // Both awkward sizes, aligned and not, in one request, and nothing is timed there.
  const Trial& check = fake.log.back();
  CHECK(check.timing_ms == 0);
  CHECK(check.config == "c=2");
  std::set<std::pair<std::int64_t, std::int64_t>> checked = {{check.sizes.at("A"), check.skew}};
  for (const TryPoint& place : check.further) checked.insert({place.symbols.at("A"), place.skew});
  CHECK(checked.size() == 4);
  CHECK(check.further.size() == 3);
}

TEST_CASE("a tie within the noise goes to the earlier config, so nothing may beat the default") {
  CHECK(FakeTrials({10, 9.95, 9.92, 12}).search().config == "c=0");
  CHECK(FakeTrials({10, 9.95, 9.92, 12}).search().reason ==
        "no config beats the default: 4 of 4 configs were measured");
  CHECK(FakeTrials({20, 10.05, 10, 12}).search().config == "c=1");
}

TEST_CASE("whatever the noise, two tunings choose the same or as good") {
  const std::uint64_t seed = padlock::testing::seed_or(11);
  CAPTURE(seed);
  const std::vector<double> times = {10, 8.3, 8.0, 8.05, 9, 8.9, 8.02, 7.3, 7.31, 7.7};
  int same = 0;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const SearchOutcome outcome = FakeTrials(times, seed + i, 0.03).search();
    REQUIRE(outcome.config);
    CHECK(times[static_cast<std::size_t>(std::stoi(outcome.config->substr(2)))] <= 7.3 * 1.03);
    same += outcome.config == "c=7" ? 1 : 0;
  }
  CHECK(same >= 38);
}

TEST_CASE("of many that are as good as each other two tunings choose the same") {
  const std::uint64_t seed = padlock::testing::seed_or(13);
  CAPTURE(seed);
  std::vector<double> times = {20};
  for (int i = 0; i < 30; ++i) times.push_back(10 + 0.01 * (i * 7 % 11));  // all within 1 %
  std::map<std::string, int> chosen;
  for (std::uint64_t i = 0; i < 40; ++i) {
    FakeTrials fake(times, seed + i, 0.02);
    fake.memory_effect = 0.01;
    ++chosen[fake.search().config.value_or("")];
  }
  CHECK(chosen["c=1"] >= 28);
}

TEST_CASE("what a config owes to the memory that it happens to have decides nothing") {
  const std::uint64_t seed = padlock::testing::seed_or(12);
  CAPTURE(seed);
  const std::vector<double> times = {10, 9.5, 9.3, 8.6, 8.62, 9, 8.95};
  int good = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    FakeTrials fake(times, seed + i, 0.01);
    fake.memory_effect = 0.03;
    const SearchOutcome outcome = fake.search();
    REQUIRE(outcome.config);
    good += times[static_cast<std::size_t>(std::stoi(outcome.config->substr(2)))] <= 8.6 * 1.03 ? 1 : 0;
  }
  CHECK(good >= 95);
}

TEST_CASE("the race times only those that may be the best") {
  FakeTrials fake({10, 9.9, 20, 30});
  static_cast<void>(fake.search());
  CHECK(fake.timed("c=2") == 1);
  CHECK(fake.timed("c=3") == 1);
  CHECK(fake.timed("c=0") > 1);
  CHECK(fake.timed("c=0") == fake.timed("c=1"));
  // In turn, after four of them alone and checks of the first.
  for (std::size_t i = 5; i < fake.log.size(); ++i)
    CHECK((fake.log[i].timing_ms == 0 || fake.log[i].rivals == std::vector<std::string>{"c=1"}));
}

TEST_CASE("heat by heat fewer race, longer") {
  std::vector<double> times;
  for (int i = 0; i < 40; ++i) times.push_back(10 + 0.02 * (i % 7));
  FakeTrials fake(times, 1, 0.02);
  const SearchOutcome outcome = fake.search();
  REQUIRE(outcome.config);
  std::vector<std::size_t> runners;
  std::vector<double> timed;  // in each heat
  std::set<std::int64_t> placements;
  for (const Trial& trial : fake.log) {
    if (trial.rivals.empty()) continue;
    CHECK(placements.insert(trial.placement).second);
    if (runners.empty() || runners.back() != trial.rivals.size() + 1) {
      runners.push_back(trial.rivals.size() + 1);
      timed.push_back(0);
    }
    timed.back() += trial.timing_ms;
  }
  CHECK(runners == std::vector<std::size_t>{16, 8, 4});
  CHECK(std::ranges::is_sorted(timed, std::less_equal()));
}

TEST_CASE("who is wrong in a race alone is found out, and one that nobody is found guilty of is called off") {
  FakeTrials fake({10, 5, 5.05, 9});
  fake.wrong_in_races = {"c=1"};
  const SearchOutcome outcome = fake.search();
  CHECK(outcome.config == "c=2");
  CHECK(fake.kept.at("c=1").verdict == Verdict::wrong_result);
  FakeTrials never({10, 5, 5.05, 9});
  never.wrong_in_races = {"c=1"};
  never.exposed = false;
  CHECK(never.search().config == "c=0");
}

TEST_CASE("what was timed in the first round alone does not win against those that raced") {
  // The machine becomes slower, so the first round flatters configs that are not timed again.
  std::vector<double> times(12, 10.0);
  times[0] = 20;
  FakeTrials fake(times, 1, 0.02);
  fake.slower_after = 13;  // twelve tries, and checks of the first
  const SearchOutcome outcome = fake.search();
  REQUIRE(outcome.config);
  CHECK(fake.timed(*outcome.config) > 1);
}

TEST_CASE("failures are kept with their verdicts, and change nothing of the choice among the others") {
  FakeTrials fake({10, 4, 5, 3});
  fake.failures = {{"c=1", Verdict::crash}, {"c=3", Verdict::timeout}};
  CHECK(fake.search().config == "c=2");
  CHECK(fake.kept.at("c=1").verdict == Verdict::crash);
  CHECK(fake.kept.at("c=1").samples_ps.empty());
  CHECK(fake.kept.at("c=3").message == "it is broken");
}

TEST_CASE("a winner that is wrong where sizes are awkward is not chosen, and the next best is") {
  FakeTrials fake({10, 4, 5});
  fake.wrong_when_awkward = {"c=1"};
  CHECK(fake.search().config == "c=2");
  CHECK(fake.kept.at("c=1").verdict == Verdict::wrong_result);
  CHECK(fake.kept.at("c=1").message == "at A=0: element 3 differs");
}

TEST_CASE("what is wrong at one of the awkward sizes is said of that one") {
  for (const auto& [symbol, skew] : {std::pair(0, 0), {1, 0}, {0, 1}, {1, 1}}) {
    FakeTrials fake({10, 4, 5});
    fake.wrong_when_awkward = {"c=1"};
    fake.wrong_at = {.symbols = {{"A", symbol}}, .skew = skew};
    CHECK(fake.search().config == "c=2");
    CHECK(fake.kept.at("c=1").message == fmt::format("at A={}: element 3 differs", symbol));
  }
  // A point at which memory ends may cost the worker: the points after it are checked all the same.
  FakeTrials fake({10, 4, 5});
  fake.ends_batch_at = {.symbols = {{"A", 1}}, .skew = 0};
  const SearchOutcome outcome = fake.search();
  CHECK(outcome.config == "c=1");
  std::size_t checks = 0;
  for (const Trial& trial : fake.log) checks += trial.timing_ms == 0 && trial.config == "c=1" ? 1 : 0;
  CHECK(checks == 2);
}

TEST_CASE("where all that raced turn out wrong, one that did not race is chosen") {
  FakeTrials fake({30, 4, 4.01});
  fake.wrong_when_awkward = {"c=1", "c=2"};
  CHECK(fake.search().config == "c=0");
}

TEST_CASE("where nothing survives, nothing is chosen") {
  FakeTrials fake({10, 4});
  fake.failures = {{"c=0", Verdict::compile}, {"c=1", Verdict::run}};
  const SearchOutcome outcome = fake.search();
  CHECK_FALSE(outcome.config);
  CHECK(outcome.reason == "no config survived: 2 of 2 configs were measured");
}

TEST_CASE("a budget ends the search, after the default at least") {
  std::vector<double> times(100, 10.0);
  times[99] = 1;
  FakeTrials fake(times);
  const SearchOutcome outcome = fake.search(fake.options(Strategy::full, 2.0));
  CHECK(outcome.config == "c=0");
  CHECK(fake.kept.size() < 20);
  CHECK(fake.clock <= 2.0);
  CHECK(outcome.candidates == 100);
  CHECK(outcome.reason ==
        fmt::format("no config beats the default: {} of 100 configs were measured", fake.kept.size()));
  FakeTrials none(times);
  CHECK(none.search(none.options(Strategy::full, 0)).config == "c=0");
  CHECK(none.kept.size() == 1);
}

TEST_CASE("a budget holds within a fifth, checks included, whatever tries and checks take") {
  const std::uint64_t seed = padlock::testing::seed_or(21);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto draw = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  int faster = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<double> times = {10};
    while (times.size() < 60) times.push_back(draw(2, 12));
    FakeTrials fake(times, random());
    const double budget = draw(1, 20), a_try = draw(0.001, 0.2), a_check = draw(0.001, 0.2), a_heat = draw(0.1, 0.5);
    CAPTURE(budget);
    CAPTURE(a_try);
    CAPTURE(a_check);
    fake.seconds_of = [&](const Trial& trial) {
      const double about = draw(0.8, 1.2);
      const double hang = draw(0, 1) < 0.01 && trial.config != "c=0" ? 10 : 0;
      return hang + about * (trial.timing_ms == 0 ? a_check : trial.rivals.empty() ? a_try : a_heat);
    };
    const SearchOutcome outcome = fake.search(fake.options(Strategy::full, budget));
    CHECK(fake.clock <= 1.2 * budget);
    CHECK(outcome.candidates == 60);
    REQUIRE(outcome.config);
    faster += outcome.config != "c=0" ? 1 : 0;
  }
  CHECK(faster > 200);
}

TEST_CASE("the default alone is not said to be unbeaten, and its checks end with the budget") {
  FakeTrials fake({10, 5, 6});
  SearchOutcome outcome = fake.search(fake.options(Strategy::full, 0.05));
  CHECK(fake.log.size() == 1);
  CHECK(outcome.config == "c=0");
  CHECK(outcome.reason ==
        "the budget ended before another config than the default was tried: 1 of 3 configs was measured; about 1 s are "
        "enough");
  FakeTrials checked({10, 5, 6});
  outcome = checked.search(checked.options(Strategy::full, 0.6));
  CHECK(checked.log.size() == 3);  // that config, three checks that predict the time of all checks, and the fourth
  CHECK(outcome.reason ==
        "the budget ended before another config than the default was tried: 1 of 3 configs was measured; about 1 s are "
        "enough");
  CHECK(FakeTrials({10}).search().reason == "the default alone was tried: 1 of 1 configs was measured");
}

TEST_CASE("a winner that there is no time to check is not chosen") {
  FakeTrials fake({10, 5, 6});
  fake.seconds_of = [](const Trial& trial) { return trial.timing_ms == 0 && trial.config != "c=0" ? 3.0 : 0.1; };
  const SearchOutcome outcome = fake.search(fake.options(Strategy::full, 10));
  CHECK(outcome.config == "c=0");
  CHECK(
      outcome.reason ==
      "the budget ended before a faster config was checked at awkward sizes: 3 of 3 configs were measured; about 15 s "
      "are enough");
  CHECK(fake.kept.at("c=1").verdict == Verdict::ok);  // it took too long here, which is no failure
  CHECK(fake.clock <= 12);
  // Nor does a config that may be wrong, if no time is left to try it again.
  FakeTrials suspect({10, 5, 5.05});
  suspect.wrong_in_races = {"c=1"};
  suspect.seconds_of = [](const Trial& trial) { return trial.rivals.empty() ? 0.1 : 6.2; };
  CHECK(suspect.search(suspect.options(Strategy::full, 7)).config == "c=0");
}

TEST_CASE("an interruption keeps what was measured, and a resumed search repeats none of it") {
  const std::vector<double> times = {10, 9, 5, 8, 7, 6};
  FakeTrials whole(times, 1, 0.0001);
  const SearchOutcome expected = whole.search();
  FakeTrials first(times, 1, 0.0001);
  first.after = [&](const Trial&) { return first.log.size() == 4; };  // the first, its checks, and two
  // The signal kills the worker as well: that is no verdict on a config.
  first.failures = {{"c=2", Verdict::crash}};
  const SearchOutcome cut = first.search();
  CHECK(cut.interrupted);
  CHECK_FALSE(cut.config);
  CHECK(first.kept.size() == 2);
  FakeTrials second(times, 2, 0.0001);
  SearchOptions options = second.options();
  for (const auto& [config, m] : first.kept) options.known.push_back(m);
  const SearchOutcome resumed = second.search(options);
  CHECK(resumed.config == expected.config);
  CHECK_FALSE(second.timed_alone("c=0"));
  CHECK_FALSE(second.timed_alone("c=1"));
  CHECK(second.timed_alone("c=2"));
  CHECK_FALSE(resumed.interrupted);
  // All is known: there is a race, and the winner is checked.
  FakeTrials third(times, 3, 0.0001);
  options = third.options();
  options.known = resumed.measurements;
  CHECK(third.search(options).config == expected.config);
  for (const Candidate& candidate : third.candidates) CHECK_FALSE(third.timed_alone(candidate.config));
  // What is known of other sizes, or of another region, is of no use here.
  options = third.options();
  options.known = resumed.measurements;
  for (Measurement& m : options.known) m.region = "A >= 1";
  third.log.clear();
  static_cast<void>(third.search(options));
  CHECK(third.timed_alone("c=0"));
}

TEST_CASE("a try that is interrupted is no verdict, wherever it is") {
  const std::vector<double> times = {10, 9.95, 9.9};
  FakeTrials whole(times);
  static_cast<void>(whole.search());
  REQUIRE(std::ranges::any_of(whole.log, [](const Trial& t) { return !t.rivals.empty(); }));
  for (int at = 1; at <= static_cast<int>(whole.log.size()); ++at) {
    CAPTURE(at);
    FakeTrials fake(times);
    fake.cancels_at = at;
    const SearchOutcome outcome = fake.search();
    CHECK(outcome.interrupted);
    CHECK_FALSE(outcome.config);
    CHECK(fake.log.size() == static_cast<std::size_t>(at));
    for (const auto& [config, m] : fake.kept) CHECK(m.verdict == Verdict::ok);
  }
}

TEST_CASE("fast leaves out what the model finds slow; random depends on the seed alone") {
  FakeTrials fake({10, 9, 40, 8, 30});
  static_cast<void>(fake.search(fake.options(Strategy::fast)));
  CHECK(fake.timed("c=2") == 0);
  CHECK(fake.timed("c=4") == 0);
  CHECK(fake.timed("c=0") > 0);
  CHECK(fake.timed("c=3") > 0);
  const auto order = [&](Strategy strategy, std::uint64_t seed) {
    return order_of_trials(FakeTrials(std::vector<double>(50, 1.0)).candidates, strategy, seed);
  };
  CHECK(order(Strategy::random, 5) == order(Strategy::random, 5));
  CHECK(order(Strategy::random, 5) != order(Strategy::random, 6));
  CHECK(order(Strategy::random, 5).front() == 0);
  CHECK(order(Strategy::full, 5).size() == 50);
  CHECK(order(Strategy::fast, 5).size() == 24);
  // Where many are alike to the model, some of each kind are tried.
  std::vector<double> times(40, 1.0);
  for (int i = 0; i < 10; ++i) times.push_back(1.4);
  const auto kinds = order_of_trials(FakeTrials(times).candidates, Strategy::fast, 5);
  CHECK(std::count_if(kinds.begin(), kinds.end(), [](std::size_t i) { return i >= 40; }) == 10);
}

TEST_CASE("what differs in one key from the best is tried, though the model finds nothing in it") {
  // The model sees no difference; the best config is two steps from those tried first.
  std::vector<double> times;
  std::vector<std::string> configs;
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 6; ++b)
      for (int c = 0; c < 6; ++c) {
        times.push_back(10.0 + a + std::abs(b - 3) + std::abs(c - 4));
        configs.push_back("a=" + std::to_string(a) + ",b=" + std::to_string(b) + ",c=" + std::to_string(c));
      }
  FakeTrials fake(times);
  fake.rename(configs);
  for (Candidate& candidate : fake.candidates) candidate.predicted_ns = 1;
  const SearchOutcome outcome = fake.search(fake.options(Strategy::fast));
  CHECK(outcome.config == "a=0,b=3,c=4");
  CHECK(fake.kept.size() < 60);
}

TEST_CASE("progress counts up and names the best so far") {
  FakeTrials fake({10, 5, 7});
  static_cast<void>(fake.search());
  REQUIRE(fake.progress.size() >= 3);
  CHECK(fake.progress[0].tried == 1);
  CHECK(fake.progress[0].candidates == 3);
  CHECK(fake.progress[0].best == "c=0");
  CHECK(fake.progress[2].best == "c=1");
  for (std::size_t i = 1; i < fake.progress.size(); ++i)
    CHECK(fake.progress[i].seconds >= fake.progress[i - 1].seconds);
}

TEST_CASE("names of strategies are read back, and others are refused") {
  for (const Strategy strategy : {Strategy::fast, Strategy::full, Strategy::random})
    CHECK(*strategy_from_name(name_of(strategy)) == strategy);
  CHECK(strategy_from_name("slow").error().message == "expected fast, full or random, found 'slow'");
}

TEST_CASE("the model knows what costs much") {
  const Machine host{.threads = 2, .cache_bytes = 32 << 20};
  const compiler::KernelCost large{.read_bytes = 1e9, .write_bytes = 1e9, .chunks = 1e9 / 32, .nontemporal = true};
  const auto ns = [&](compiler::KernelCost cost, auto change, const Machine& machine, std::int64_t task = 1 << 18) {
    change(cost);
    return predicted_ns({&cost, 1}, task, machine, Regime::cold);
  };
  const auto same = [](auto&) {};
  // A store that goes past the caches need not fetch its line.
  CHECK(ns(large, same, host) < ns(large, [](auto& c) { c.nontemporal = false; }, host));
  // One table says which do, for the code and the model.
  const auto of_bytes = [&](double bytes) {
    const auto sized = [&](auto& c) { c.read_bytes = c.write_bytes = bytes, c.chunks = bytes / 32; };
    const auto through = [&](auto& c) { sized(c), c.nontemporal = false; };
    return ns(large, sized, host) < ns(large, through, host);
  };
  CHECK(of_bytes(8 << 20));
  CHECK_FALSE(of_bytes((8 << 20) - 1));
  // A core gets little of a last cache that is much larger than its own: here 8 times its own is stored past the
  // caches.
  const compiler::KernelCost middle{.read_bytes = 2e7, .write_bytes = 2e7, .nontemporal = true};
  const Machine huge{.threads = 2, .cache_bytes = 300 << 20};
  const Machine own{.threads = 2, .cache_bytes = 300 << 20, .core_cache_bytes = 2 << 20};
  CHECK_FALSE(stores_past_caches({&middle, 1}, huge));
  CHECK(stores_past_caches({&middle, 1}, own));
  CHECK_FALSE(stores_past_caches({&middle, 1}, {.threads = 2, .cache_bytes = 300 << 20, .core_cache_bytes = 3 << 20}));
  const compiler::KernelCost small{.read_bytes = 1e6, .write_bytes = 1e6, .chunks = 1e6 / 32, .nontemporal = true};
  // Vectors.
  CHECK(ns(small, same, host) < ns(small, [](auto& c) { c.chunks *= 32; }, host));
  // Many small tasks, or one for two threads.
  CHECK(ns(large, same, host) < ns(large, same, host, 1 << 10));
  CHECK(ns(small, same, host) < ns(small, same, host, 1 << 30));
  const Machine gpu{.threads = 0, .cache_bytes = 50 << 20, .multiprocessors = 132};
  const compiler::KernelCost copy{.read_bytes = 1e8,
                                  .write_bytes = 1e8,
                                  .blocks = 25'000,
                                  .resident_blocks = 16,
                                  .flight_bytes = 4096,
                                  .trips = 1,
                                  .instructions = 3e7};
  // Bytes first; then loads in flight, trips, and instructions, each if it exceeds what can be hidden.
  CHECK(ns(copy, same, gpu) < ns(copy, [](auto& c) { c.write_bytes = 2e8; }, gpu));
  CHECK(ns(copy, same, gpu) == ns(copy, [](auto& c) { c.flight_bytes = 8192; }, gpu));
  CHECK(ns(copy, same, gpu) < ns(copy, [](auto& c) { c.flight_bytes = 256; }, gpu));
  CHECK(ns(copy, same, gpu) < ns(copy, [](auto& c) { c.resident_blocks = 1; }, gpu));
  CHECK(ns(copy, same, gpu) < ns(copy, [](auto& c) { c.trips = 4; }, gpu));
  CHECK(ns(copy, same, gpu) == ns(copy, [](auto& c) { c.instructions = 2e7; }, gpu));
  CHECK(ns(copy, same, gpu) < ns(copy, [](auto& c) { c.instructions = 3e8; }, gpu));
  // A few blocks leave multiprocessors idle.
  CHECK(ns(copy, same, gpu) < ns(copy, [](auto& c) { c.blocks = 10; }, gpu));
}

}  // namespace padlock::tuner
