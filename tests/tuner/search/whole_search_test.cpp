// Counts the requests of a whole search to the worker. They are the same on simt and on the fake driver.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "ir/program.h"
#include "tests/common/expect.h"
#include "tests/common/try_request.h"
#include "tests/tuner/faults/faulty_code.h"
#include "tuner/search/search.h"
#include "tuner/search/size_plan.h"
#include "tuner/trial/problem.h"
#include "tuner/trial/try_config.h"

namespace padlock::tuner {
namespace {

using padlock::testing::value_of;

constexpr const char* kProgram =
    "program p(x: f32[A, B]) where A >= 1, B >= 1 { z = pad(x, low = [1, 2], high = [3, 1]) return z }";
constexpr std::size_t kConfigs = 6;
constexpr int kHeats = 1 + 2 + 16;  // as long as two race

/// Counts the requests of a search. All configs take the same time, so that no noise changes the requests.
class CountedTrials {
 public:
  explicit CountedTrials(std::string device) : device_(std::move(device)) {}

  Result<TryResult> operator()(const Trial& trial) {
    TryRequest request = padlock::testing::quick_request(kProgram, trial.sizes, device_, trial.config);
    request.rivals = trial.rivals;
    request.skew = trial.skew;
    request.further = trial.further;
    request.placement = trial.placement;
    if (trial.timing_ms == 0) request.policy.budget_ms = 0;
    request_ = &request;
    place_ = 0;
    TryResult result = trials_.try_config(request);
    CHECK_MESSAGE(name_of(result.verdict) == "ok", result.message);
    CHECK(result.passed == std::ssize(trial.further) + 1);
    const auto make_equal = [](std::vector<std::int64_t>& samples) { std::ranges::fill(samples, 1'000'000); };
    make_equal(result.samples_ps);
    std::ranges::for_each(result.rivals_ps, make_equal);
    result.median_ps = result.samples_ps.empty() ? 0 : 1'000'000;
    result.noise_ps = 0;
    return result;
  }

  std::map<Step, int> steps;

 private:
  void on_step(Step step) {
    ++steps[step];
    // The fake's kernels know no sizes but these.
    if (step != Step::prepare) return;
    faults::set_fault(faults::Fault::none, place_ == 0 ? request_->symbols : request_->further.at(place_ - 1).symbols);
    ++place_;
  }

  std::string device_;
  const TryRequest* request_ = nullptr;  // borrowed
  std::size_t place_ = 0;                // of the request, the next
  Trials trials_{[this](Step step) { on_step(step); }, faults::make_faulty_compiler};
};

/// Makes configs of a GPU, with no order among them.
std::vector<Candidate> some_candidates(const ir::Program& program, const Sizes& sizes) {
  const auto compiler = value_of(compiler::TargetCompiler::create("sm_90"));
  const std::vector<ir::Binding> bindings = {value_of(bind_sizes(program, sizes))};
  const compiler::SearchSpace space = value_of(compiler->search_space(program, bindings));
  std::vector<Candidate> candidates;
  for (const compiler::SearchPoint& point : space.points)
    if (candidates.size() < kConfigs) candidates.push_back({.config = to_string(point.config), .predicted_ns = 1});
  return candidates;
}

}  // namespace

TEST_CASE("a whole search asks for each config once, the awkward sizes of one in one request, and races") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  const ir::Program program = value_of(ir::parse_program(kProgram));
  const Sizes sizes = {{"A", 37}, {"B", 53}};
  SearchOptions options{.strategy = Strategy::full, .budget_seconds = 1e6, .awkward = awkward_sizes(program, 1)};
  const auto checks = static_cast<int>(2 * options.awkward.size());
  REQUIRE(checks > 10);
  const std::vector<Candidate> candidates = some_candidates(program, sizes);
  constexpr int kTried = static_cast<int>(kConfigs);
  REQUIRE(candidates.size() == kConfigs);
  for (const char* device : {"simt", "cuda:0"}) {
    CAPTURE(device);
    CountedTrials counted(device);
    const SearchOutcome outcome = value_of(search_region("", sizes, candidates, options, std::ref(counted)));
    CHECK(outcome.config == candidates.front().config);
    // One request for each config and each heat, one for three checks that predict the time of all, and one for the
    // others.
    CHECK(outcome.requests == kTried + kHeats + 2);
    CHECK(outcome.trials == kTried + kHeats + checks);
    CHECK(counted.steps[Step::prepare] == outcome.trials);
    // Nothing is verified twice, and a race uses the verified configs.
    CHECK(counted.steps[Step::compile] == kTried + checks);
    CHECK(counted.steps[Step::run] == kTried + checks);
    CHECK(counted.steps[Step::time] == kTried + kHeats);
  }
}

}  // namespace padlock::tuner
