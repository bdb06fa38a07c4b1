// Tests a queue's timings by the fake driver's two clocks: the device's and its caller's.

#include "runtime/cuda/gpu_queue.h"

#include "runtime/cuda/launch.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

constexpr double kLaunchMs = 0.002, kFillMs = 0.02;

/// A GPU's queue whose caller takes longer to queue a kernel than the GPU takes to run it.
struct Machine {
  explicit Machine(double queueing_ms, std::int64_t memory_bytes = std::int64_t{1} << 30) {
    fake->settings.launch_milliseconds = kLaunchMs;
    fake->settings.queueing_milliseconds = queueing_ms;
    fake->settings.fill_milliseconds = kFillMs / 64;
    fake->settings.memory_bytes = memory_bytes;
    context = fake.primary();
    module.emplace(*Module::load_ptx(*context, kPtx, "nothing"));
    queue.emplace(*Stream::create(*context));
  }

  Result<double> milliseconds(std::int64_t count) {
    const Function nothing = *module->function("nothing");
    const Stream stream = Stream::borrow(*context, queue->stream());
    PADLOCK_TRY(const std::int64_t took, queue->time(count, [&](std::int64_t) {
      return launch(nothing, {.grid_x = 1, .block_x = 32}, {}, stream);
    }));
    return static_cast<double>(took) * 1e-9;
  }

  Fake fake;
  std::unique_ptr<const Context> context;
  std::optional<Module> module;
  std::optional<GpuQueue> queue;
};

TEST_CASE("the time of small kernels is the device's, not that of who queues them") {
  Machine machine(0.003);
  for (const std::int64_t count : {1, 2, 64, 100, 500})
    CHECK(*machine.milliseconds(count) == doctest::Approx(kLaunchMs * static_cast<double>(count)).epsilon(0.001));
  // Each was launched as often as was asked for.
  CHECK(machine.fake->launches() == 1 + 2 + 64 + 100 + 500);
}

TEST_CASE("who needs longer to queue than it seemed is found out, and the work is timed again") {
  Machine machine(0.03);
  for (int i = 0; i < 3; ++i) CHECK(*machine.milliseconds(50) == doctest::Approx(kLaunchMs * 50).epsilon(0.001));
  const int first = machine.fake->launches();
  CHECK(first > 3 * 50);
  // Once the cost is known, one measurement suffices.
  CHECK(*machine.milliseconds(50) == doctest::Approx(kLaunchMs * 50).epsilon(0.001));
  CHECK(machine.fake->launches() == first + 50);
  // If it cannot be hidden, the time includes it.
  machine.fake->settings.queueing_milliseconds = 1;
  CHECK(*machine.milliseconds(10) > 8);
}

TEST_CASE("without memory to fill, work is timed as it comes") {
  Machine machine(0.003, 1 << 20);
  CHECK(*machine.milliseconds(100) == doctest::Approx(0.003 * 100).epsilon(0.02));
  CHECK(machine.fake->launches() == 100);
}

TEST_CASE("a device that is lost is said to be, whoever finds out") {
  for (const char* function : {"cuMemAlloc_v2", "cuMemsetD8Async", "cuEventQuery", "cuEventSynchronize"}) {
    CAPTURE(function);
    Machine machine(0.003);
    machine.fake->fail({.function = function, .status = CUresult::illegal_address, .sticky = true});
    CHECK(is_device_lost(error_of(machine.milliseconds(10))));
  }
}

}  // namespace
}  // namespace padlock::runtime::cuda
