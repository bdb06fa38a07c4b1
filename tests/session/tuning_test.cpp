// Tuning on the host from end to end, with a real worker.

#include "session/compile/tuning.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/buffer.h"
#include "tests/session/tuning_testing.h"

namespace padlock::session {
namespace {

using testing::bound;
using testing::Folder;
using testing::program_of;
using testing::tuned;
using testing::use;

constexpr const char* kPad =
    "program p(x: f32[A, B], lo: dim) where 0 <= lo <= 9 { y = pad(x, low = [0, lo], high = [0, 3]) z = relu(y) "
    "return z }";

tuner::Sizes small_sizes() { return {{"A", 40}, {"B", 50}, {"lo", 3}}; }

TuneOptions small_tuning() {
  TuneOptions options;
  options.sizes.opt = small_sizes();
  options.budget_seconds = 0.5;
  return options;
}

std::vector<float> result_of(const BoundProgram& program) {
  std::vector<float> x(40 * 50), z(40 * 56, -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) - 8;
  const runtime::UserBuffer in(x.data(), std::ssize(x) * 4);
  const runtime::UserBuffer out(z.data(), std::ssize(z) * 4);
  REQUIRE(program.launch({.inputs = {&in, 1}, .outputs = {&out, 1}, .scalars = {}}));
  return z;
}

}  // namespace

TEST_CASE("a second start of the same program tries nothing, chooses the same and computes the same") {
  const Folder folder;
  const Program program = program_of(kPad);
  const auto untuned = [&] {
    Context context;
    return result_of(bound(context, program, small_sizes()));
  }();
  std::string config;
  {
    Context context;
    use(context, folder / "t.db", tuner::Mode::read_write);
    const TuneReport report = tuned(context, program, small_tuning());
    REQUIRE(report.regions.size() == 1);
    REQUIRE(report.regions.front().outcome.config);
    config = *report.regions.front().outcome.config;
    CHECK(report.trials > 0);
    CHECK(context.trial_count() == report.trials);
    CHECK(report.chosen() == 1);
    for (const tuner::Measurement& m : report.regions.front().outcome.measurements)
      CHECK_MESSAGE(m.verdict == tuner::Verdict::ok, m.message);
  }
  Context second;
  use(second, folder / "t.db", tuner::Mode::require);
  const BoundProgram program_bound = bound(second, program, small_sizes());
  CHECK(second.trial_count() == 0);
  CHECK(program_bound.compiled().config() == config);
  CHECK(program_bound.reason().starts_with("the cache hit, key "));
  CHECK(program_bound.reason().find(": tuned for ") != std::string::npos);
  CHECK(result_of(program_bound) == untuned);
}

TEST_CASE("a resumed tuning repeats nothing") {
  const Folder folder;
  const Program program = program_of(kPad);
  TuneOptions options = small_tuning();
  options.budget_seconds = 3600;  // the interruption ends the first run, on a machine of any speed
  int tries = 0;
  options.progress = [&](std::size_t, std::size_t, const tuner::Progress& p) { tries += p.tried > 0 ? 1 : 0; };
  options.cancelled = [&] { return tries >= 4; };
  Context context;
  use(context, folder / "t.db", tuner::Mode::read_write);
  const TuneReport cut = tuned(context, program, options);
  CHECK(cut.interrupted);
  CHECK(cut.chosen() == 0);
  CHECK(cut.trials == 4 + 3);  // four configs, and the checks after the first one, which predict the time of checks
  options.cancelled = {};
  options.resume = true;
  options.strategy = tuner::Strategy::fast;
  const TuneReport resumed = tuned(context, program, options);
  CHECK(resumed.chosen() == 1);
  CHECK(resumed.regions.front().outcome.measurements.size() > 4);
  const TuneReport again = tuned(context, program, options);
  CHECK(again.trials == 0);
  CHECK(again.regions.front().was_known);
  CHECK(again.regions.front().outcome.config == resumed.regions.front().outcome.config);
}

TEST_CASE("a cache that cannot be written ends a tuning that must keep what it learns, before anything is tried") {
  const Folder folder;
  const Program program = program_of(kPad);
  TuneOptions options = small_tuning();
  options.must_keep = true;
  Context context;
  use(context, "/dev/null/t.db", tuner::Mode::read_write);
  const auto report = context.tune(program, options);
  REQUIRE_FALSE(report);
  CHECK(report.error().code == Code::failed_precondition);
  CHECK(report.error().message.starts_with("expected a cache that can be written, found one that cannot: "));
  CHECK(context.trial_count() == 0);
  // Who tunes while serving keeps it in memory.
  options.must_keep = false;
  CHECK(tuned(context, program, options).chosen() == 1);
}

TEST_CASE("a region is tuned in its regime, and what is bound says so") {
  const Folder folder;
  const Program program = program_of(kPad);
  for (const auto& [asked, regime] : std::vector<std::pair<std::optional<tuner::Regime>, tuner::Regime>>{
           {{}, tuner::Regime::warm}, {tuner::Regime::cold, tuner::Regime::cold}}) {
    TuneOptions options = small_tuning();
    options.sizes.regime = asked;
    const std::string file = folder / std::string(name_of(regime));
    Context context;
    use(context, file, tuner::Mode::read_write);
    const TuneReport report = tuned(context, program, options);
    CHECK(report.regions.front().planned.regime == regime);
    for (const tuner::Measurement& m : report.regions.front().outcome.measurements) CHECK(m.regime == regime);
    Context second;
    use(second, file, tuner::Mode::require);
    CHECK(bound(second, program, small_sizes()).reason().find(fmt::format(" ({}), ", name_of(regime))) !=
          std::string::npos);
  }
}

TEST_CASE("shards, as many as there are, are all regions once") {
  const Program program = program_of(kPad);
  Context context;
  const auto regions = [&](tuner::Shard shard) {
    TuneOptions options;
    options.sizes.max = {{"A", 2048}, {"B", 2048}};
    options.shard = shard;
    std::vector<std::string> list;
    const TunePlan plan = padlock::testing::value_of(context.plan_tuning(program, options));
    for (const RegionPlan& region : plan.regions) list.push_back(region.planned.region);
    return list;
  };
  std::vector<std::string> whole = regions({});
  std::ranges::sort(whole);
  CHECK(whole.size() >= 2);
  for (std::int64_t count = 1; count <= 7; ++count) {
    std::vector<std::string> dealt;
    for (std::int64_t index = 0; index < count; ++index)
      std::ranges::copy(regions({index, count}), std::back_inserter(dealt));
    std::ranges::sort(dealt);
    CHECK(dealt == whole);
  }
  TuneOptions wrong;
  wrong.shard = {7, 7};
  CHECK(context.plan_tuning(program, wrong).error().message == "expected a shard from 0 to 6, found 7");
}

TEST_CASE("keys are dealt evenly, each to one shard") {
  for (std::int64_t count = 1; count <= 7; ++count) {
    std::vector<int> dealt(static_cast<std::size_t>(count));
    for (int key = 0; key < 7000; ++key) {
      int owners = 0;
      for (std::int64_t index = 0; index < count; ++index) {
        const bool has = tuner::Shard{index, count}.has(std::to_string(key / 3), std::to_string(key % 3));
        owners += has ? 1 : 0;
        dealt[static_cast<std::size_t>(index)] += has ? 1 : 0;
      }
      CHECK(owners == 1);
    }
    for (const int number : dealt) CHECK(std::abs(number - 7000 / count) < 350);
  }
}

TEST_CASE("what a cache does not know, the default config serves, and why is said") {
  const Folder folder;
  const Program program = program_of(kPad);
  Context context;
  use(context, folder / "none.db", tuner::Mode::read);
  const BoundProgram missed = bound(context, program, small_sizes());
  CHECK(missed.reason().starts_with("the default of this target: the cache missed, no record of the program"));
  CHECK(missed.compiled().config() == *context.choose_config({}));
  // Sizes outside of every tuned region.
  TuneOptions options = small_tuning();
  options.sizes.max = {{"A", 64}};
  Context other;
  use(other, folder / "t.db", tuner::Mode::read_write);
  CHECK(tuned(other, program, options).chosen() == 1);
  const auto compiled = other.compile(program);
  REQUIRE(compiled);
  const auto outside = compiled->bind({.tensors = {std::nullopt}, .symbols = {{"A", 65}, {"B", 50}, {"lo", 3}}});
  REQUIRE(outside);
  CHECK(outside->reason().ends_with(": no tuned region holds these sizes: the default config"));
  CHECK(outside->compiled().config() == compiled->config());
  // A requested config is taken, whatever the cache has.
  const auto forced = other.compile(program, {.config = "unroll=1"});
  REQUIRE(forced);
  CHECK(forced->reason() == "forced, other keys as in the default");
}

TEST_CASE("tuned in the background, a program serves at once, and later bindings take what was chosen") {
  const Folder folder;
  const Program program = program_of(kPad);
  Context context;
  use(context, folder / "t.db", tuner::Mode::read_write);
  std::mutex mutex;
  std::vector<TuneReport> reports;
  CompileOptions options;
  options.background = {.options = small_tuning(), .finished = [&](const Result<TuneReport>& report) {
                          const std::lock_guard lock(mutex);
                          REQUIRE_MESSAGE(report, (report ? "" : report.error().to_string()));
                          reports.push_back(*report);
                        }};
  // Tuning waits for the first binding, so that the test sees what serves until then.
  std::promise<void> bound_before;
  options.background->options.cancelled = [&, waited = bound_before.get_future().share()] {
    waited.wait();
    return false;
  };
  const auto compiled = context.compile(program, options);
  REQUIRE(compiled);
  const std::string default_config = *context.choose_config({});
  const auto bind = [&] {
    const auto made = compiled->bind({.tensors = {std::nullopt}, .symbols = {{"A", 40}, {"B", 50}, {"lo", 3}}});
    REQUIRE(made);
    return *made;
  };
  const BoundProgram before = bind();
  bound_before.set_value();
  CHECK(before.compiled().config() == default_config);
  CHECK(before.reason().starts_with("the default of this target: the cache missed, "));
  const std::vector<float> expected = result_of(before);
  context.wait_for_tuning();
  REQUIRE(reports.size() == 1);
  REQUIRE(reports.front().chosen() == 1);
  const BoundProgram after = bind();
  CHECK(after.compiled().config() == *reports.front().regions.front().outcome.config);
  CHECK(after.reason().starts_with("the cache hit, key "));
  CHECK(compiled->reason().starts_with("the cache hit, key "));
  CHECK(result_of(after) == expected);
  CHECK(result_of(before) == expected);
  CHECK(before.compiled().config() == default_config);
  // What the cache knows is not measured again.
  const std::int64_t trials = context.trial_count();
  CHECK(trials > 0);
  REQUIRE(context.compile(program, options));
  context.wait_for_tuning();
  CHECK(context.trial_count() == trials);
}

TEST_CASE("tuning in the background ends with its context, and its errors are told") {
  const Folder folder;
  const Program program = program_of(kPad);
  CompileOptions options;
  options.background = {.options = small_tuning()};
  {
    Context without;
    const auto compiled = without.compile(program, options);
    REQUIRE_FALSE(compiled);
    CHECK(compiled.error().code == Code::failed_precondition);
  }
  std::vector<Error> errors;
  options.background->finished = [&](const Result<TuneReport>& report) {
    REQUIRE_FALSE(report);
    errors.push_back(report.error());
  };
  {
    Context no_worker({.threads = 0, .parallel_for = {}, .worker = "/no/such"});
    use(no_worker, folder / "t.db", tuner::Mode::read_write);
    const auto compiled = no_worker.compile(program, options);
    REQUIRE(compiled);
    no_worker.wait_for_tuning();
    REQUIRE(errors.size() == 1);
    CHECK(errors.front().code == Code::unavailable);
    CHECK(compiled->bind({.tensors = {std::nullopt}, .symbols = {{"A", 4}, {"B", 5}, {"lo", 3}}}));
  }
  bool interrupted = false;
  std::atomic<bool> tried = false;
  options.background->options.budget_seconds = 3600;
  options.background->options.strategy = tuner::Strategy::full;
  options.background->options.progress = [&](std::size_t, std::size_t, const tuner::Progress&) { tried = true; };
  options.background->finished = [&](const Result<TuneReport>& report) { interrupted = report && report->interrupted; };
  {
    Context context;
    use(context, folder / "t.db", tuner::Mode::read_write);
    REQUIRE(context.compile(program, options));
    while (!tried) std::this_thread::yield();
  }
  CHECK(interrupted);
}

TEST_CASE("tuning without a cache, a worker, a device that is tuned or sizes is an error, and nothing is tried") {
  const Folder folder;
  const Program program = program_of(kPad);
  const auto error_of = [&](Context& context, const TuneOptions& options) {
    const auto report = context.tune(program, options);
    REQUIRE_FALSE(report);
    CHECK(context.trial_count() <= 1);
    return report.error();
  };
  Context without;
  CHECK(error_of(without, small_tuning()).code == Code::failed_precondition);
  Context no_worker({.threads = 0, .parallel_for = {}, .worker = "/no/such"});
  use(no_worker, folder / "t.db", tuner::Mode::read_write);
  CHECK(error_of(no_worker, small_tuning()).code == Code::unavailable);
  Context context;
  use(context, folder / "t.db", tuner::Mode::read_write);
  TuneOptions simt = small_tuning();
  simt.device = {runtime::DeviceKind::simt};
  CHECK(error_of(context, simt).message == "expected a device that is tuned, found simt");
  TuneOptions none = small_tuning();
  none.sizes = {.min = {{"lo", 20}}, .opt = {}, .max = {}};
  CHECK(error_of(context, none).code == Code::not_found);
  Context require;
  use(require, folder / "absent.db", tuner::Mode::require);
  const auto missed = require.compile(program);
  REQUIRE_FALSE(missed);
  CHECK(missed.error().code == Code::not_found);
}

}  // namespace padlock::session
