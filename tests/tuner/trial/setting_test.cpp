// The place of the buffers during a timing.

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/common/try_request.h"
#include "tests/runtime/cuda/fake_driver.h"
#include "tests/tuner/faults/faulty_code.h"
#include "tuner/trial/try_config.h"

namespace padlock::tuner {
namespace {

constexpr const char* kTwoResults =
    "program p(x: f32[A, B]) { y = pad(x, low = [0, 1], high = [1, 3]) z = mul(y, y) return y, z }";
constexpr Setting kAllSettings[] = {Setting::warm, Setting::cold, Setting::warm_then_read, Setting::cold_then_read};

TryRequest request_in(Setting setting, const std::string& device) {
  TryRequest request = padlock::testing::quick_request(kTwoResults, {{"A", 19}, {"B", 61}}, device);
  request.threads = 2;
  request.policy.setting = setting;
  request.policy.rotation_bytes = 1 << 16;  // some sets
  return request;
}

TEST_CASE("configs are timed in every setting, alone and in turn, on the host and on simt") {
  for (const char* device : {"host", "simt"}) {
    Trials trials;
    for (int round = 0; round < 2; ++round)  // and settings change on the same buffers
      for (const Setting setting : kAllSettings) {
        CAPTURE(device);
        CAPTURE(name_of(setting));
        TryRequest request = request_in(setting, device);
        for (const bool in_turn : {false, true}) {
          if (in_turn) request.rivals = {"split=0"};
          const TryResult result = trials.try_config(request);
          CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
          CHECK(result.samples_ps.size() >= 3);
          CHECK(result.rivals_ps.size() == (in_turn ? 1 : 0));
        }
      }
  }
}

/// Allocations of a GPU's memory that timing in some settings one after the other makes.
std::vector<int> allocations_in(runtime::cuda::FakeDriver& fake, const std::vector<Setting>& settings) {
  Trials trials({}, faults::make_faulty_compiler);
  std::vector<int> made;
  for (const Setting setting : settings) {
    const TryRequest request = request_in(setting, "cuda:0");
    faults::set_fault(faults::Fault::none, request.symbols);
    const int before = fake.made().allocations;
    const TryResult result = trials.try_config(request);
    CHECK_MESSAGE(result.verdict == Verdict::ok, result.message);
    made.push_back(fake.made().allocations - before);
  }
  return made;
}

TEST_CASE("warm tensors are one set of buffers, cold ones many, of which the first serves both") {
  ::setenv("PADLOCK_CUDA_DRIVER", PADLOCK_FAKE_CUDA, 1);
  auto* const fake = runtime::cuda::FakeDriver::of(PADLOCK_FAKE_CUDA);
  REQUIRE(fake != nullptr);
  fake->reset();
  const std::vector<int> warm = allocations_in(*fake, {Setting::warm, Setting::warm, Setting::warm_then_read});
  const std::vector<int> mixed = allocations_in(*fake, {Setting::warm, Setting::cold, Setting::warm, Setting::cold});
  const std::vector<int> cold = allocations_in(*fake, {Setting::cold, Setting::warm});
  CHECK(warm[1] == 0);
  CHECK(warm[2] > 0);  // the memory into which results are read
  CHECK(warm[2] < 3 + 1);
  CHECK(mixed[0] == warm[0]);
  CHECK(cold[0] > warm[0]);
  CHECK(mixed[1] == cold[0] - warm[0]);  // the existing set is the first
  CHECK(mixed[2] == 0);
  CHECK(mixed[3] == 0);
  CHECK(cold[1] == 0);
  CHECK(fake->live() == runtime::cuda::FakeCounts{});
  CHECK(fake->take_misuses().empty());
}

}  // namespace
}  // namespace padlock::tuner
