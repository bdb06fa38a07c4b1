// Configs that misbehave: each is caught and named, this process survives, and healthy configs are not affected.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "tests/common/try_request.h"
#include "tests/tuner/faults/fault.h"
#include "tests/tuner/faults/faulty_code.h"
#include "tuner/trial/scratch_data.h"
#include "tuner/trial/try_config.h"
#include "tuner/worker/worker.h"

namespace padlock::tuner {
namespace {

using faults::Expectation;
using faults::kExpectations;

constexpr const char* kProgram =
    R"(program p(x: f32[A, B]) where A >= 1, B >= 1
{ z = pad(x, low = [1, 2], high = [3, 1], value = -1.5) return z })";

TryRequest request_for(const std::string& device, const std::string& config) {
  return padlock::testing::quick_request(kProgram, {{"A", 37}, {"B", 53}}, device, config);
}

/// Healthy, faulty, healthy.
std::vector<std::string> configs_of(const std::string& device) {
  if (device == "host") return {"unroll=1", std::string(faults::kFaultyHost), "unroll=2"};
  return {"map=vector_grid,items=1", std::string(faults::kFaultyGpu), "map=vector_grid,items=2"};
}

/// What a caller has in memory meanwhile.
class CallersMemory {
 public:
  CallersMemory() : words_(1 << 18) { std::iota(words_.begin(), words_.end(), std::uint64_t{12345}); }
  [[nodiscard]] std::uint64_t checksum() const {
    return std::accumulate(words_.begin(), words_.end(), std::uint64_t{0},
                           [](std::uint64_t sum, std::uint64_t word) { return (sum ^ word) * 0x9e3779b97f4a7c15; });
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Checks the expected verdict, if the device can have the fault.
void check_fault(const Expectation& expectation, const std::string& device) {
  const auto expected = device == "host" ? expectation.on_host : expectation.on_gpu;
  if (!expected) return;
#if defined(PADLOCK_SANITIZED)
  // A sanitizer's allocator ends the process first, with a status of its own.
  if (expectation.fault == faults::Fault::no_memory_to_compile) return;
#endif
  CAPTURE(expectation.name);
  CAPTURE(device);
  ::setenv(faults::kFaultVariable, std::string(expectation.name).c_str(), 1);
  auto worker = Worker::start({.command = {PADLOCK_FAULTY_WORKER}});
  REQUIRE(worker);
  const std::vector<std::string> configs = configs_of(device);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    TryRequest request = request_for(device, configs[i]);
    if (expectation.fault == faults::Fault::full_pipe) request.program += std::string(1 << 20, ' ');
    if (*expected == Verdict::timeout && i == 1) request.time_limit_ms = 1500;
    // That one reads no request at all.
    if (expectation.fault == faults::Fault::full_pipe && i != 1) continue;
    const auto result = worker->try_config(request);
    REQUIRE_MESSAGE(result, (result ? "" : result.error().to_string()));
    CAPTURE(result->message);
    if (i == 1) {
      CHECK(name_of(result->verdict) == name_of(*expected));
      CHECK(result->message.find(expectation.message) != std::string::npos);
      CHECK(result->message != "");
      CHECK(result->samples_ps.empty());
    } else {
      CHECK(name_of(result->verdict) == "ok");
      CHECK(result->samples_ps.size() >= 3);
      // A comparison that is wrong is found out before it judges anything, and is no fault of a config.
      const bool on_host = device != "host" && faults::is_of_comparison(expectation.fault);
      REQUIRE(result->notes.size() == (on_host ? 1 : 0));
      if (on_host)
        CHECK(result->notes.front().starts_with(
            "results are compared on the host: the kernel that compares memory on the device "));
    }
  }
  // A compile error and memory that is not there leave the process as good as it was.
  const bool replaced = *expected != Verdict::compile && *expected != Verdict::out_of_memory;
  CHECK(worker->starts() == (replaced ? 2 : 1));
}

TEST_CASE("every fault is caught on the host, and the healthy configs are as without it") {
  const CallersMemory memory;
  const std::uint64_t before = memory.checksum();
  for (const Expectation& expectation : kExpectations) check_fault(expectation, "host");
  CHECK(memory.checksum() == before);
}

TEST_CASE("every fault is caught with the fake driver, and the healthy configs are as without it") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  const CallersMemory memory;
  const std::uint64_t before = memory.checksum();
  for (const Expectation& expectation : kExpectations) check_fault(expectation, "cuda:0");
  CHECK(memory.checksum() == before);
}

TEST_CASE("a reference that is wrong is found, and judges no config") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  for (const char* device : {"host", "cuda:0"}) {
    CAPTURE(device);
    Trials trials({}, faults::make_faulty_compiler);
    // Too many elements for the interpreter.
    TryRequest request =
        padlock::testing::quick_request("program p(x: i8[A, B]) { z = pad(x, low = [3, 1], high = [0, 2]) return z }",
                                        {{"A", 2100}, {"B", 2100}}, device);
    faults::set_fault(faults::Fault::wrong_reference, request.symbols);
    const TryResult result = trials.try_config(request);
    CHECK(name_of(result.verdict) == name_of(Verdict::run));
    CHECK_MESSAGE(result.message.find("the default config does not compute what the interpreter does: z: at [0, 0] "
                                      "expected 0x0, found 0x1") != std::string::npos,
                  result.message);
    CHECK(result.samples_ps.empty());
  }
}

TEST_CASE("what kills the worker while it is compiled along is no fault of the config that is tried") {
  ::unsetenv(faults::kFaultVariable);
  ::setenv(faults::kCrashCompilingVariable, std::string(faults::kFaultyHost).c_str(), 1);
  auto worker = Worker::start({.command = {PADLOCK_FAULTY_WORKER}});
  REQUIRE(worker);
  TryRequest request = request_for("host", "unroll=1");
  request.next = {std::string(faults::kFaultyHost)};
  const auto healthy = worker->try_config(request);
  REQUIRE(healthy);
  CHECK_MESSAGE(name_of(healthy->verdict) == "ok", healthy->message);
  CHECK(worker->starts() == 2);
  const auto crashed = worker->try_config(request_for("host", std::string(faults::kFaultyHost)));
  REQUIRE(crashed);
  CHECK(name_of(crashed->verdict) == "crash");
  CHECK(crashed->message.find("while compiling") != std::string::npos);
  ::unsetenv(faults::kCrashCompilingVariable);
}

TEST_CASE("what is wrong at one of many places is found there, and the places before it are right") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  for (const char* device : {"host", "cuda:0"}) {
    for (const auto& [fault, verdict] : {std::pair("wrong_last", Verdict::wrong_result), {"killed", Verdict::crash}}) {
      for (const int place : {0, 2, 4, 5}) {
        CAPTURE(device);
        CAPTURE(fault);
        CAPTURE(place);
        ::setenv(faults::kFaultVariable, fault, 1);
        ::setenv(faults::kFaultyPlaceVariable, std::to_string(place).c_str(), 1);
        auto worker = Worker::start({.command = {PADLOCK_FAULTY_WORKER}});
        REQUIRE(worker);
        TryRequest request = request_for(device, configs_of(device)[1]);
        request.policy.budget_ms = 0;
        for (const std::int64_t a : {1, 8, 3, 70})
          request.further.push_back({.symbols = {{"A", a}, {"B", 9}}, .skew = a % 2});
        const auto result = worker->try_config(request);
        REQUIRE(result);
        CAPTURE(result->message);
        CHECK(name_of(result->verdict) == name_of(place < 5 ? verdict : Verdict::ok));
        CHECK(result->passed == place);
        CHECK(worker->starts() == (place < 5 ? 2 : 1));
      }
    }
  }
  ::unsetenv(faults::kFaultyPlaceVariable);
}

TEST_CASE("without a fault all are healthy, in one process") {
  ::unsetenv(faults::kFaultVariable);
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  for (const char* device : {"host", "cuda:0"}) {
    auto worker = Worker::start({.command = {PADLOCK_FAULTY_WORKER}});
    REQUIRE(worker);
    for (const std::string& config : configs_of(device)) {
      const auto result = worker->try_config(request_for(device, config));
      REQUIRE(result);
      CAPTURE(result->message);
      CHECK(name_of(result->verdict) == "ok");
      CHECK(result->notes.empty());
    }
    CHECK(worker->starts() == 1);
  }
}

TEST_CASE("there are as many classes as were asked for") {
  int on_host = 0;
  int on_gpu = 0;
  for (const Expectation& expectation : kExpectations) {
    on_host += expectation.on_host ? 1 : 0;
    on_gpu += expectation.on_gpu ? 1 : 0;
  }
  CHECK(on_host >= 18);
  CHECK(on_gpu >= 18);
}

}  // namespace
}  // namespace padlock::tuner
