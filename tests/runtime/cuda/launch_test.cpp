#include "runtime/cuda/launch.h"

#include <doctest/doctest.h>

#include <numeric>
#include <thread>

#include "runtime/cuda/event.h"
#include "runtime/cuda/memory.h"
#include "tests/allocation_count.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

using Calls = std::vector<std::string>;

/// All that a launch of `add` needs.
struct Problem {
  explicit Problem(const Fake& fake, std::size_t count = 1000)
      : context(fake.primary()),
        stream(*Stream::create(*context)),
        module(*Module::load_ptx(*context, kPtx, "p")),
        add(*module.function("add")),
        words(count),
        input(*DeviceBuffer::allocate(*context, static_cast<std::int64_t>(count * 4), "input")),
        result(*DeviceBuffer::allocate(*context, static_cast<std::int64_t>(count * 4), "result")),
        shape{.grid_x = static_cast<unsigned>((count + 127) / 128), .block_x = 128},
        parameters{result.address(), input.address(), count, 5} {
    std::iota(words.begin(), words.end(), 100U);
    REQUIRE(copy_to_device(stream, input.address(), bytes_of(words)));
  }

  [[nodiscard]] bool is_right() const {
    std::vector<std::uint32_t> back(words.size());
    REQUIRE(copy_to_host(stream, bytes_of(back), result.address()));
    for (std::size_t i = 0; i < back.size(); ++i)
      if (back[i] != words[i] + 5) return false;
    return true;
  }

  std::unique_ptr<const Context> context;
  Stream stream;
  Module module;
  Function add;
  std::vector<std::uint32_t> words;
  DeviceBuffer input, result;
  LaunchShape shape;
  std::vector<std::uint64_t> parameters;
};

TEST_CASE("a launch runs the kernel with its parameters, grid and block") {
  const Fake fake;
  for (const std::size_t count : {1, 127, 128, 1000}) {
    CAPTURE(count);
    Problem problem(fake, count);
    REQUIRE(launch(problem.add, problem.shape, problem.parameters, problem.stream));
    CHECK(problem.is_right());
  }
  CHECK(fake->launches() == 4);
}

TEST_CASE("a launch on the null stream of a borrowed context") {
  Fake fake;
  fake.make_callers_context();
  const auto context = *Context::borrow_current(*fake.load());
  const Module module = *Module::load_ptx(*context, kPtx, "p");
  CHECK(launch(*module.function("nothing"), {.grid_x = 1, .block_x = 1}, {}, Stream::borrow(*context, nullptr)));
  CHECK(fake->launches() == 1);
}

TEST_CASE("allocations are counted") {  // else the cases below show nothing
  const long before = testing::allocation_count();
  CHECK(std::string(1000, 'x').size() == 1000);
  CHECK(testing::allocation_count() > before);
}

/// Launches in a current context.
void check_one_call(const Fake& fake, const Problem& problem, const char* call) {
  const auto scope = ContextScope::enter(*problem.context);
  REQUIRE(scope);
  fake->forget_calls();
  const long before = testing::allocation_count();
  const Status status = launch(*scope, problem.add, problem.shape, problem.parameters, problem.stream);
  const long after = testing::allocation_count();
  REQUIRE(status);
  CHECK(after == before);
  CHECK(fake->calls() == Calls{call});
}

TEST_CASE("a launch in a current context is one driver call and allocates nothing") {
  const Fake fake;
  check_one_call(fake, Problem(fake), "cuLaunchKernel");
}

TEST_CASE("a launch that has to make its context current is four calls, two if it is current already") {
  const Fake fake;
  const Problem problem(fake);
  fake->forget_calls();
  const long before = testing::allocation_count();
  const Status status = launch(problem.add, problem.shape, problem.parameters, problem.stream);
  const long after = testing::allocation_count();
  REQUIRE(status);
  CHECK(fake->calls() == Calls{"cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuLaunchKernel", "cuCtxPopCurrent_v2"});
  CHECK(after == before);
  CHECK(fake->context_stack().empty());

  const auto scope = ContextScope::enter(*problem.context);
  fake->forget_calls();
  REQUIRE(launch(problem.add, problem.shape, problem.parameters, problem.stream));
  CHECK(fake->calls() == Calls{"cuCtxGetCurrent", "cuLaunchKernel"});
}

TEST_CASE("a kernel that waits for the work before it is launched while that runs, where the driver can") {
  for (const bool has_it : {true, false}) {
    CAPTURE(has_it);
    const Fake fake;
    if (!has_it) fake->settings.hidden_symbols = {"cuLaunchKernelEx"};
    Problem problem(fake);
    problem.module = *Module::load_ptx(*problem.context, waiting_ptx(), "p");
    problem.add = *problem.module.function("add");
    problem.shape.waits = true;
    check_one_call(fake, problem, has_it ? "cuLaunchKernelEx" : "cuLaunchKernel");
    CHECK(problem.is_right());
  }
}

TEST_CASE("the fake sees a launch that waits for nothing of a kernel that does not wait either") {
  const Fake fake;
  Problem problem(fake);
  problem.shape.waits = true;
  CHECK_FALSE(launch(problem.add, problem.shape, problem.parameters, problem.stream));
  CHECK(fake->take_misuses() ==
        std::vector<std::string>{"cuLaunchKernelEx: kernel add, which does not wait for the work before it"});
}

TEST_CASE("an empty grid is not launched") {
  const Fake fake;
  const Problem problem(fake);
  fake->forget_calls();
  CHECK(launch(problem.add, {.grid_x = 0, .block_x = 128}, problem.parameters, problem.stream));
  CHECK(fake->calls().empty());
}

TEST_CASE("a launch is legal while a graph is captured, and the graph does the same work") {
  const Fake fake;
  Problem problem(fake);
  REQUIRE(enqueue_fill(problem.stream, problem.result.address(), std::byte{0}, problem.result.bytes()));
  fake->begin_capture(problem.stream.handle());
  const std::vector<std::uint64_t> parameters = problem.parameters;
  REQUIRE(launch(problem.add, problem.shape, problem.parameters, problem.stream));
  problem.parameters.assign(4, 0);  // captured by value
  CHECK(fake->launches() == 0);
  CHECK(fake->end_capture(problem.stream.handle()) == 1);
  CHECK_FALSE(problem.is_right());
  fake->replay(problem.stream.handle());
  CHECK(problem.is_right());
}

TEST_CASE("the first launch of a function may be a captured one") {  // the driver loads lazily
  for (const int version : {12030, 13000}) {
    CAPTURE(version);
    const Fake fake;
    fake->settings.driver_version = version;
    if (version < 12040) fake->settings.hidden_symbols = {"cuFuncLoad"};
    const Problem problem(fake);
    fake->begin_capture(problem.stream.handle());
    CHECK(launch(problem.add, problem.shape, problem.parameters, problem.stream));
    CHECK(fake->end_capture(problem.stream.handle()) == 1);
  }
  const Fake fake;  // that the fake sees it
  fake->settings.hidden_symbols = {"cuFuncLoad"};
  const Problem problem(fake);
  fake->begin_capture(problem.stream.handle());
  CHECK_FALSE(launch(problem.add, problem.shape, problem.parameters, problem.stream));
  CHECK(fake->end_capture(problem.stream.handle()) == -1);
}

TEST_CASE("the fake sees what is illegal while a graph is captured") {  // else the case above shows nothing
  const Fake fake;
  const Problem problem(fake);
  fake->begin_capture(problem.stream.handle());
  const Error error = error_of(DeviceBuffer::allocate(*problem.context, 64, "x"));
  CHECK(contains(error.message, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"));
  CHECK(error.blame == Blame::user);
  const Error later = error_of(launch(problem.add, problem.shape, problem.parameters, problem.stream));
  CHECK(contains(later.message, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"));
  CHECK(fake->end_capture(problem.stream.handle()) == -1);
}

TEST_CASE("a launch that the driver refuses is an error that names the kernel") {
  const Fake fake;
  const Problem problem(fake);
  const std::span<const std::uint64_t> three = std::span(problem.parameters).first(3);
  for (const Error& error :
       {error_of(launch(problem.add, problem.shape, three, problem.stream)),
        error_of(launch(problem.add, {.grid_x = 1, .block_x = 2048}, problem.parameters, problem.stream)),
        error_of(launch(problem.add, {.grid_x = 1, .block_x = 1, .shared_bytes = 1 << 20}, problem.parameters,
                        problem.stream))}) {
    CHECK(error.message ==
          "cuLaunchKernel of add on cuda:0 failed: CUDA_ERROR_INVALID_VALUE: as the fake driver was told");
    CHECK(fake->context_stack().empty());
  }
  CHECK(fake->launches() == 0);
}

TEST_CASE("events around launches measure them") {
  const Fake fake;
  const Problem problem(fake);
  const Event start = *Event::create(*problem.context);
  const Event end = *Event::create(*problem.context);
  REQUIRE(start.record(problem.stream));
  for (int i = 0; i < 3; ++i) REQUIRE(launch(problem.add, problem.shape, problem.parameters, problem.stream));
  REQUIRE(end.record(problem.stream));
  REQUIRE(end.synchronize());
  CHECK(*end.milliseconds_since(start) == 0.75F);
}

TEST_CASE("threads launch the same function at once") {
  const Fake fake;
  const Problem problem(fake);
  std::vector<Status> statuses(4);
  {
    std::vector<std::jthread> threads;
    for (Status& status : statuses)
      threads.emplace_back([&] {
        for (int i = 0; i < 100 && status; ++i)
          status = launch(problem.add, problem.shape, problem.parameters, problem.stream);
      });
  }
  for (const Status& status : statuses) CHECK(status);
  CHECK(fake->launches() == 400);
  CHECK(problem.is_right());
}

}  // namespace
}  // namespace padlock::runtime::cuda
