// The place of tensors decides which config is best.

#include "tuner/cache/regime.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "runtime/device.h"
#include "tests/tuner/search/fake_trials.h"
#include "tuner/search/cost_model.h"
#include "tuner/search/search.h"

namespace padlock::tuner {
namespace {

using testing::FakeTrials;

/// The settings in which a search timed anything.
std::set<Setting> settings_in(const FakeTrials& fake) {
  std::set<Setting> settings;
  for (const Trial& trial : fake.log)
    if (trial.timing_ms > 0) settings.insert(trial.setting);
  return settings;
}

SearchOptions in_regime(FakeTrials& fake, Regime regime) {
  SearchOptions options = fake.options();
  options.regime = regime;
  return options;
}

}  // namespace

TEST_CASE(
    "configs are timed where the regime finds its tensors, and with a reader if stores past caches are in question") {
  for (const Regime regime : {Regime::warm, Regime::cold, Regime::both})
    for (const bool read : {false, true}) {
      FakeTrials fake({10, 8, 9});
      fake.candidates[2].past_caches = read;
      static_cast<void>(fake.search(in_regime(fake, regime)));
      const std::vector<Setting> expected = settings_of(regime, read);
      CHECK(settings_in(fake) == std::set<Setting>(expected.begin(), expected.end()));
      for (const auto& [config, m] : fake.kept) CHECK(m.regime == regime);
    }
}

TEST_CASE("a config that loses to the default in one setting of the regime is not chosen, however fast in the others") {
  // Config 1 stores past the caches: a third of the time if cold, and slower if the result is read next.
  const auto past_caches = [](double cold, double warm, double read) {
    return [=](std::size_t index, Setting setting) {
      if (index != 1) return 1.0;
      return is_read(setting) ? read : is_warm(setting) ? warm : cold;
    };
  };
  const auto chosen = [&](Regime regime, auto factor) {
    FakeTrials fake({10, 10, 9.2});
    fake.candidates[1].past_caches = true;
    fake.factor = factor;
    return fake.search(in_regime(fake, regime)).config.value_or("none");
  };
  CHECK(chosen(Regime::cold, past_caches(0.33, 2, 0.8)) == "c=1");
  CHECK(chosen(Regime::cold, past_caches(0.33, 2, 1.1)) == "c=2");
  CHECK(chosen(Regime::warm, past_caches(0.33, 2, 0.9)) == "c=2");
  CHECK(chosen(Regime::both, past_caches(0.33, 1.1, 0.9)) == "c=2");
  CHECK(chosen(Regime::both, past_caches(0.33, 0.9, 0.9)) == "c=1");
}

TEST_CASE("without a race in all settings the default stays, and why is said") {
  FakeTrials fake({10, 2, 3});
  fake.seconds_of = [](const Trial& trial) { return trial.rivals.empty() ? 0.1 : 100; };
  const SearchOutcome outcome = fake.search(fake.options(Strategy::full, 2));
  CHECK(outcome.config == "c=0");
  CHECK(outcome.reason ==
        "the budget ended before the default was compared with others: 3 of 3 configs were measured; about 3 s are "
        "enough");
}

TEST_CASE("the default races whatever it takes, and what decided is kept as ratios to it") {
  FakeTrials fake({30, 5, 5.5, 12});
  fake.candidates[3].past_caches = true;
  const SearchOutcome outcome = fake.search(in_regime(fake, Regime::warm));
  CHECK(outcome.config == "c=1");
  for (const Trial& trial : fake.log)
    if (!trial.rivals.empty()) CHECK(trial.config == "c=0");
  REQUIRE(outcome.ratios);
  CHECK(outcome.ratios->ppm.size() == 2);
  for (const auto& [setting, ppm] : outcome.ratios->ppm) CHECK(ppm == doctest::Approx(1e6 * 5 / 30).epsilon(0.02));
  CHECK(fake.kept.at("c=0").ratios->ppm.at("warm") == 1'000'000);
  CHECK(fake.kept.at("c=0").ratios->noise_ppm.at("warm") == 0);
  CHECK(fake.kept.at("c=1").ratios == outcome.ratios);
}

TEST_CASE("noise alone does not replace the default") {
  int replaced = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    FakeTrials fake({10, 10.3, 10.1, 10.2, 10}, seed, 0.2);
    fake.memory_effect = 0.02;
    replaced += fake.search().config == "c=0" ? 0 : 1;
  }
  CHECK(replaced <= 2);
}

TEST_CASE("what is known of another regime is measured again") {
  FakeTrials fake({10, 5});
  SearchOptions options = in_regime(fake, Regime::warm);
  options.known = fake.search(in_regime(fake, Regime::cold)).measurements;
  fake.log.clear();
  static_cast<void>(fake.search(options));
  CHECK(fake.timed_alone("c=0"));
  // A record without a regime is cold.
  for (Measurement& m : options.known) m.regime.reset();
  options.regime = Regime::cold;
  fake.log.clear();
  static_cast<void>(fake.search(options));
  CHECK_FALSE(fake.timed_alone("c=0"));
}

TEST_CASE("tensors of half a cache are warm, those of more than two are cold") {
  const RegimeBorders borders = RegimeBorders::of_cache(1000);
  CHECK(borders.regime_of(0) == Regime::warm);
  CHECK(borders.regime_of(500) == Regime::warm);
  CHECK(borders.regime_of(501) == Regime::both);
  CHECK(borders.regime_of(2000) == Regime::both);
  CHECK(borders.regime_of(2001) == Regime::cold);
  CHECK(RegimeBorders::of_cache(0).regime_of(1) == Regime::cold);
}

TEST_CASE("threads have their share of a host's last cache, and a GPU's launches all of its own") {
  runtime::DeviceFacts facts{.model = "", .cache_bytes = {1000, 32'000}, .gpu = {}, .cache_cpus = 8};
  CHECK(facts.cache_share(1) == 4000);
  CHECK(facts.cache_share(2) == 8000);
  CHECK(facts.cache_share(8) == 32'000);
  CHECK(facts.cache_share(100) == 32'000);
  facts.gpu.emplace();
  CHECK(facts.cache_share(1) == 32'000);
  CHECK(runtime::DeviceFacts{.model = ""}.cache_share(1) == 0);
}

TEST_CASE("names of regimes are read back, and others are refused") {
  for (const Regime regime : {Regime::warm, Regime::cold, Regime::both})
    CHECK(*regime_from_name(name_of(regime)) == regime);
  CHECK(regime_from_name("hot").error().message == "expected a regime (warm, cold or both), found 'hot'");
}

TEST_CASE("the model finds stores past the caches good for cold tensors alone") {
  const Machine host{.threads = 2, .cache_bytes = 32 << 20};
  const auto ns = [&](bool past_caches, Regime regime) {
    const compiler::KernelCost cost{.read_bytes = 4e6,
                                    .write_bytes = 4e6,
                                    .chunks = 4e6 / 64,
                                    .nontemporal = past_caches,
                                    .always_nontemporal = past_caches};
    return predicted_ns({&cost, 1}, 1 << 18, host, regime);
  };
  CHECK(ns(true, Regime::cold) < ns(false, Regime::cold));
  CHECK(ns(true, Regime::warm) > ns(false, Regime::warm));
  CHECK(ns(true, Regime::both) == doctest::Approx((ns(true, Regime::cold) + ns(true, Regime::warm)) / 2));
  const Machine gpu{.threads = 0, .cache_bytes = 50 << 20, .multiprocessors = 132};
  const compiler::KernelCost copy{.read_bytes = 1e7,
                                  .write_bytes = 1e7,
                                  .blocks = 2500,
                                  .resident_blocks = 16,
                                  .flight_bytes = 4096,
                                  .trips = 1,
                                  .instructions = 3e6};
  CHECK(predicted_ns({&copy, 1}, 0, gpu, Regime::warm) < predicted_ns({&copy, 1}, 0, gpu, Regime::cold));
}

}  // namespace padlock::tuner
