// Class J, the cost of a bad config: one process. Some tuners' candidates crashed the process that asked, hung it, lost
// its device, or broke a graph that it was capturing.
#include <doctest/doctest.h>
#include <signal.h>

#include <cerrno>
#include <set>

#include "runtime/cuda/stream.h"
#include "tests/regressions/tuned.h"
#include "tuner/worker/worker.h"

namespace padlock::regressions {
namespace {

using tuner::Worker;
using tuner::faults::kDeathVariable;
using tuner::faults::kFaultVariable;
using tuner::faults::kFaultyConfigsVariable;
using tuner::faults::kFaultyGpu;
using tuner::faults::kFaultyHost;

#if defined(PADLOCK_SANITIZED)
constexpr bool kProvesSlowly = true;  // the hundreds of configs of a GPU's search space take a sanitizer a minute
#else
constexpr bool kProvesSlowly = false;
#endif

constexpr runtime::DeviceId kGpu{runtime::DeviceKind::cuda};

tuner::Sizes some_sizes() { return sizes(37, 53); }

Worker faulty_worker() {
  auto worker = Worker::start({.command = {PADLOCK_FAULTY_WORKER}});
  REQUIRE_MESSAGE(worker, (worker ? "" : worker.error().to_string()));
  return *std::move(worker);
}

TryRequest faulty_request(const char* device = "host") {
  TryRequest request = quick_request(kTunedPad, some_sizes(), device);
  request.config = std::string(request.device) == "host" ? kFaultyHost : kFaultyGpu;
  return request;
}

TryResult try_with(Worker& worker, const TryRequest& request) {
  auto result = worker.try_config(request);
  REQUIRE_MESSAGE(result, (result ? "" : result.error().to_string()));
  return *std::move(result);
}

bool exists(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

/// The outcome of each config of a tuning whose faulty configs are the worker's.
struct Verdicts {
  std::set<std::string> of_faulty, of_others;
};
Verdicts verdicts_of(const session::TuneReport& report, std::string_view mark) {
  Verdicts verdicts;
  for (const session::TunedRegion& region : report.regions)
    for (const tuner::Measurement& m : region.outcome.measurements) {
      const bool faulty = m.config.find(mark) != std::string::npos;
      (faulty ? verdicts.of_faulty : verdicts.of_others).emplace(name_of(m.verdict));
    }
  return verdicts;
}

}  // namespace

TEST_CASE("pytorch_95542: configs that crash cost themselves alone, and whoever tunes computes on") {
  const Folder folder;
  const Environment fault(kFaultVariable, "null_store");
  const session::Program program = program_of(kTunedPad);
  session::Context context({.threads = 0, .parallel_for = {}, .worker = PADLOCK_FAULTY_WORKER});
  use(context, folder / "t.db", tuner::Mode::read_write);
  const session::BoundProgram before = bound(context, program, some_sizes());
  session::TuneOptions options = small_tuning(some_sizes());
  options.budget_seconds = 60;  // enough for every config on any machine
  const session::TuneReport report = tuned(context, program, options);
  const Verdicts verdicts = verdicts_of(report, kFaultyHost);
  CHECK(verdicts.of_faulty == std::set<std::string>{"crash"});
  CHECK(verdicts.of_others == std::set<std::string>{"ok"});
  REQUIRE(report.chosen() == 1);
  CHECK(report.regions.front().outcome.config->find(kFaultyHost) == std::string::npos);
  check_results(before, some_sizes());
  check_results(bound(context, program, some_sizes()), some_sizes());
}

TEST_CASE("pytorch_171094: whatever a config is at when it dies, its process alone does") {
  for (const char* device : {"host", "cuda:0"}) {
    const Environment driver("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA);
    for (const std::string_view step : tuner::kStepTexts) {
      if (step == text_of(tuner::Step::none)) continue;
      CAPTURE(device);
      CAPTURE(step);
      const Environment death(kDeathVariable, step);
      Worker worker = faulty_worker();
      const TryResult died = try_with(worker, faulty_request(device));
      CHECK(name_of(died.verdict) == name_of(Verdict::crash));
      CHECK(died.message == "the worker died of SIGKILL (Killed) while " + std::string(step));
      TryRequest healthy = faulty_request(device);
      healthy.config = {};
      const TryResult next = try_with(worker, healthy);
      CHECK_MESSAGE(next.verdict == Verdict::ok, next.message);
      CHECK(worker.starts() == 2);
    }
  }
}

TEST_CASE("pytorch_123932: a config that hangs is killed, and has ended before the next one begins") {
  const Environment fault(kFaultVariable, "infinite_loop");
  Worker worker = faulty_worker();
  TryRequest request = faulty_request();
  request.time_limit_ms = 500;
  for (int i = 1; i <= 2; ++i) {
    const pid_t hung = worker.pid();
    REQUIRE(exists(hung));
    const TryResult result = try_with(worker, request);
    CHECK(name_of(result.verdict) == name_of(Verdict::timeout));
    CHECK(result.message == "no verdict after 500 ms, while running between red zones");
    CHECK_FALSE(exists(hung));  // it was waited for, too
    CHECK(worker.starts() == 1 + i);
  }
}

// ---- Resources -------------------------------------------------------------------------------------------------

TEST_CASE("triton_2596: blocks that the code's registers do not allow are refused before a launch, in numbers") {
  const session::FakeGpu fake;
  session::Context context;
  fake->settings.function_threads = 200;
  const auto bind_with = [](session::Context& in, const char* config) {
    const auto compiled = in.compile(program_of(kTunedPad), {.device = kGpu, .config = config});
    REQUIRE(compiled);
    ir::BindRequest request{.tensors = {}, .symbols = sizes(3, 4)};
    request.tensors.resize(compiled->program().ir().tensor_parameters().size());
    return compiled->bind(request);
  };
  const auto refused = bind_with(context, "threads=512");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::failed_precondition);
  CHECK(refused.error().message.find(
            " has blocks of 512 threads, cuda:0 runs at most 200 of its code (32 registers a thread, 0 bytes of "
            "shared memory)") != std::string::npos);
  CHECK(bind_with(context, "threads=128"));
  // A driver that does not report a function's limits: the device's apply.
  fake->settings.hidden_symbols = {"cuFuncGetAttribute"};
  session::Context other;
  CHECK(bind_with(other, "threads=512"));
  CHECK(fake->launches() == 0);
}

TEST_CASE("triton_6803: such a config has a verdict of compiling, and its process lives") {
  const Environment driver("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA);
  const Environment fault(kFaultVariable, "too_many_registers");
  Worker worker = faulty_worker();
  CHECK(name_of(try_with(worker, faulty_request("cuda:0")).verdict) == name_of(Verdict::compile));
  TryRequest healthy = faulty_request("cuda:0");
  healthy.config = {};
  CHECK(try_with(worker, healthy).verdict == Verdict::ok);
  CHECK(worker.starts() == 1);
}

TEST_CASE("helion_3161: where no config works while tuning, the default does without" * doctest::skip(kProvesSlowly)) {
  const Folder folder;
  const Environment all(kFaultyConfigsVariable, "");
  const Environment fault(kFaultVariable, "too_many_resources");
  const session::FakeGpu fake;
  session::Context context({.threads = 0, .parallel_for = {}, .worker = PADLOCK_FAULTY_WORKER});
  use(context, folder / "t.db", tuner::Mode::read_write);
  const session::TuneReport report = tuned(context, program_of(kTunedPad), small_tuning(some_sizes(), kGpu));
  CHECK(report.chosen() == 0);
  const tuner::SearchOutcome& outcome = report.regions.front().outcome;
  CHECK(outcome.reason.starts_with(fmt::format("no config survived: {} of ", outcome.measurements.size())));
  CHECK(verdicts_of(report, "").of_faulty == std::set<std::string>{"run"});
  session::TwinProgram twins(fake, context, kTunedPad);
  CHECK(twins.compiled().config() == *context.choose_config({.device = kGpu}));
  CHECK(twins.compiled().reason().ends_with("nothing was chosen yet, or nothing that is legal here"));
  check_results(twins.bind({.tensors = {std::nullopt}, .symbols = some_sizes()}), some_sizes());
}

// ---- Devices ---------------------------------------------------------------------------------------------------

TEST_CASE("pytorch_170130: after an error of the device nothing is tried in that process again") {
  const Environment driver("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA);
  const Environment fault(kFaultVariable, "misaligned_vector");
  for (const char* device : {"host", "cuda:0"}) {
    CAPTURE(device);
    Worker worker = faulty_worker();
    const pid_t first = worker.pid();
    const TryResult bad = try_with(worker, faulty_request(device));
    CHECK(name_of(bad.verdict) == name_of(std::string_view(device) == "host" ? Verdict::crash : Verdict::device_lost));
    CHECK_FALSE(exists(first));
    TryRequest healthy = faulty_request(device);
    healthy.config = {};
    CHECK(try_with(worker, healthy).verdict == Verdict::ok);
    CHECK(worker.starts() == 2);
  }
}

TEST_CASE("triton_10596: tuning while a graph is captured leaves it valid, since another process does it" *
          doctest::skip(kProvesSlowly)) {
  const Folder folder;
  const session::FakeGpu fake;
  session::Context context({.threads = 0, .parallel_for = {}, .worker = PADLOCK_FAULTY_WORKER});
  use(context, folder / "t.db", tuner::Mode::read_write);
  session::TwinProgram twins(fake, context, kTunedPad);
  const session::BoundProgram program = twins.bind({.tensors = {std::nullopt}, .symbols = some_sizes()});
  const session::Arrays arrays(program);  // the fake's device memory is the host's
  const auto primary = runtime::cuda::Context::retain_primary(*runtime::cuda::Driver::find(), 0);
  REQUIRE(primary);
  const auto stream = runtime::cuda::Stream::create(**primary);
  REQUIRE(stream);
  session::LaunchArguments arguments = arrays.arguments();
  arguments.stream = stream->handle();

  fake->begin_capture(stream->handle());
  REQUIRE(program.launch(arguments));
  CHECK(tuned(context, twins.compiled().program(), small_tuning(some_sizes(), kGpu)).chosen() == 1);
  const auto waited = program.synchronize(stream->handle());  // a tuner in this process would have to do that
  REQUIRE_FALSE(waited);
  CHECK(waited.error().code == Code::failed_precondition);
  REQUIRE(fake->end_capture(stream->handle()) == 1);
  CHECK(fake->launches() == 0);
  fake->replay(stream->handle());
  CHECK(program.synchronize(stream->handle()));
  const ir::BindRequest request{.tensors = {std::nullopt}, .symbols = some_sizes()};
  CHECK(arrays.results == session::reference_results(twins.compiled().program(), request, arrays));
}

}  // namespace padlock::regressions
