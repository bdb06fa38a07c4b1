// Failures that a real driver rarely has. After each: the right error, nothing left behind, an unchanged context stack.

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "runtime/cuda/devices.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/scratch_memory.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

constexpr std::size_t kCount = 500;

/// Whose context the scenario works in.
enum class Ownership : std::uint8_t { owned, borrowed };

/// Load, context, memory, copies, module, launch, wait, events, copy back; then all is given back, which begins with
/// call number `*done` (from 0).
Status whole_scenario(const Fake& fake, Ownership ownership, std::size_t* done = nullptr) {
  std::vector<std::uint32_t> words(kCount);
  std::iota(words.begin(), words.end(), 1U);
  PADLOCK_TRY(const auto driver, fake.load());
  PADLOCK_CHECK(list_devices(*driver));
  PADLOCK_TRY(const auto context,
              ownership == Ownership::owned ? Context::retain_primary(driver, 0) : Context::borrow_current(driver));
  PADLOCK_TRY(const Stream stream, Stream::create(*context));
  PADLOCK_TRY(const DeviceBuffer input, DeviceBuffer::allocate(*context, kCount * 4, "input"));
  PADLOCK_TRY(const DeviceBuffer result, DeviceBuffer::allocate(*context, kCount * 4, "result"));
  DeviceScratchSpace space(Stream::borrow(*context, stream.handle()));
  PADLOCK_TRY(const auto scratch, space.map(kCount * 4, 0, "scratch"));
  PADLOCK_CHECK(scratch->write(0, bytes_of(words)));
  PADLOCK_CHECK(enqueue_copy(stream, input.address(), scratch->address(), kCount * 4));
  PADLOCK_CHECK(enqueue_fill(stream, result.address(), std::byte{0}, result.bytes()));
  PADLOCK_TRY(const BesideCapture beside, BesideCapture::enter(*context));
  PADLOCK_TRY(const Module module, Module::load_ptx(*context, waiting_ptx(), "p"));
  PADLOCK_TRY(const Function add, module.function("add"));
  PADLOCK_CHECK(function_facts(add));
  PADLOCK_TRY(const Module linked, Module::link_ptx(*context, waiting_ptx(), "linked"));
  PADLOCK_TRY(const Event start, Event::create(*context));
  PADLOCK_TRY(const Event end, Event::create(*context));
  PADLOCK_CHECK(start.record(stream));
  const std::uint64_t parameters[] = {result.address(), input.address(), kCount, 1};
  PADLOCK_CHECK(launch(add, {.grid_x = 4, .block_x = 128}, parameters, stream));
  PADLOCK_CHECK(launch(add, {.grid_x = 4, .block_x = 128, .waits = true}, parameters, stream));
  PADLOCK_CHECK(end.record(stream));
  PADLOCK_CHECK(stream.synchronize("add"));
  PADLOCK_CHECK(end.synchronize());
  PADLOCK_CHECK(end.has_come());
  PADLOCK_CHECK(end.milliseconds_since(start));
  PADLOCK_CHECK(enqueue_copy(stream, input.address(), result.address(), result.bytes()));
  PADLOCK_CHECK(copy_to_host(stream, bytes_of(words), input.address()));
  for (std::size_t i = 0; i < kCount; ++i)
    if (words[i] != i + 2) return internal_error("a wrong result");
  if (done != nullptr) *done = fake->calls().size();
  return {};
}

/// Calls that give something back. Nobody waits for their status, and there is nothing that could be done about it.
bool gives_back(const std::string& call) {
  static const std::set<std::string> kCalls = {
      "cuCtxPopCurrent_v2", "cuMemFree_v2",  "cuMemUnmap",        "cuMemRelease",       "cuMemAddressFree",
      "cuModuleUnload",     "cuLinkDestroy", "cuEventDestroy_v2", "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2"};
  return kCalls.contains(call);
}

struct ScenarioCalls {
  std::vector<std::string> calls;  ///< without those that only return an error's text
  std::size_t done = 0;            ///< index of the first call of the release at the end
};

ScenarioCalls calls_of_scenario(Ownership ownership) {
  Fake fake;
  if (ownership == Ownership::borrowed) fake.make_callers_context();
  ScenarioCalls made;
  REQUIRE(whole_scenario(fake, ownership, &made.done));
  made.calls = fake->calls();
  made.done -= std::erase(made.calls, "cuGetProcAddress_v2");
  return made;
}

TEST_CASE("the scenario makes each call of the table") {
  std::set<std::string> made;
  for (const auto ownership : {Ownership::owned, Ownership::borrowed})
    for (const std::string& call : calls_of_scenario(ownership).calls) made.insert(call);
  const std::set<std::string> only_after_a_failure = {"cuGetErrorName", "cuGetErrorString", "cuMemGetInfo_v2"};
#define PADLOCK_IS_MADE(symbol, version, parameters) \
  CHECK_MESSAGE(made.contains(#symbol) != only_after_a_failure.contains(#symbol), #symbol);
  PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_IS_MADE)
  PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_IS_MADE)
#undef PADLOCK_IS_MADE
}

/// Fails each call of the scenario in turn, with a caller's context on the stack all the while.
void fail_each_call(const FakeFailure& kind, const std::function<void(const Error&)>& check) {
  for (const auto ownership : {Ownership::owned, Ownership::borrowed}) {
    const ScenarioCalls scenario = calls_of_scenario(ownership);
    REQUIRE(scenario.done > 50);
    for (std::size_t n = 0; n < scenario.calls.size(); ++n) {
      const std::string& call = scenario.calls[n];
      CAPTURE(n);
      CAPTURE(call);
      Fake fake;
      fake.make_callers_context();
      FakeFailure failure = kind;
      failure.nth = static_cast<int>(n) + 1;
      fake->fail(failure);
      const Status status = whole_scenario(fake, ownership);
      if (status) {
        CHECK((gives_back(call) || n >= scenario.done));
      } else {
        CHECK(contains(status.error().message, call.substr(0, call.rfind("_v")) + " "));
        check(status.error());
      }
    }
  }
}

TEST_CASE("out of memory at the nth call, for every n") {
  fail_each_call({.status = CUresult::out_of_memory}, [](const Error& error) {
    CHECK(error.code == Code::resource_exhausted);
    CHECK(contains(error.message, "failed: CUDA_ERROR_OUT_OF_MEMORY"));
  });
}

TEST_CASE("an unknown error at the nth call, for every n") {
  fail_each_call({.status = CUresult::unknown}, [](const Error& error) {
    CHECK(error.code == Code::unknown);
    CHECK(error.blame == Blame::environment);
  });
}

TEST_CASE("a context that is lost at the nth call, for every n") {
  for (const Ownership ownership : {Ownership::owned, Ownership::borrowed}) {
    const ScenarioCalls scenario = calls_of_scenario(ownership);
    for (std::size_t n = 0; n < scenario.calls.size(); ++n) {
      CAPTURE(n);
      CAPTURE(scenario.calls[n]);
      Fake fake;
      fake.make_callers_context();
      fake->fail({.nth = static_cast<int>(n) + 1, .status = CUresult::ecc_uncorrectable, .sticky = true});
      const Status status = whole_scenario(fake, ownership);
      // A release ignores its own status, but later calls fail.
      if (status) CHECK(n + 1 >= scenario.done);
      if (!status) CHECK(is_device_lost(status.error()));
    }
  }
}

/// A function of kPtx in a context of its own, with the planted failure.
struct Launching {
  explicit Launching(const Fake& fake)
      : context(fake.primary()),
        stream(*Stream::create(*context)),
        buffer(*DeviceBuffer::allocate(*context, 256, "buffer")),
        module(*Module::load_ptx(*context, kPtx, "p")),
        add(*module.function("add")) {}

  /// Adds over `count` words of a buffer that has 64.
  [[nodiscard]] Status run(std::uint64_t count) const {
    const std::uint64_t parameters[] = {buffer.address(), buffer.address(), count, 1};
    return launch(add, {.grid_x = 1, .block_x = 128}, parameters, stream);
  }

  std::unique_ptr<const Context> context;
  Stream stream;
  DeviceBuffer buffer;
  Module module;
  Function add;
};

/// Checks the error of every call in a lost context.
void check_lost(const Launching& launching, const std::string& status) {
  const auto check = [&](const Error& error) {
    CHECK(is_device_lost(error));
    CHECK(error.blame == Blame::environment);
    CHECK(contains(error.message, "failed: " + status));
  };
  check(error_of(launching.run(64)));
  check(error_of(launching.stream.synchronize()));
  check(error_of(DeviceBuffer::allocate(*launching.context, 64, "x")));
  check(error_of(Module::load_ptx(*launching.context, kPtx, "p")));
  check(error_of(Event::create(*launching.context)));
}

TEST_CASE("a launch that the driver refuses as failed is a lost device of that kernel") {
  const Fake fake;
  const Launching launching(fake);
  fake->fail({.function = "cuLaunchKernel", .status = CUresult::launch_failed, .sticky = true});
  const Error error = error_of(launching.run(64));
  CHECK(is_device_lost(error));
  CHECK(error.message ==
        "cuLaunchKernel of add on cuda:0 failed: CUDA_ERROR_LAUNCH_FAILED: as the fake driver was told; the device is "
        "lost");
  CHECK(fake->launches() == 0);
  check_lost(launching, "CUDA_ERROR_LAUNCH_FAILED");
}

TEST_CASE("a kernel that fails shows at the next wait, which names it") {
  const Fake fake;
  const Launching launching(fake);
  fake->fault_in_launch(CUresult::device_assert, 2);
  REQUIRE(launching.run(64));
  REQUIRE(launching.stream.synchronize("add"));
  REQUIRE(launching.run(64));
  const Error error = error_of(launching.stream.synchronize("add"));
  CHECK(is_device_lost(error));
  // The wait asks first whether the stream is captured, and hears of it then.
  CHECK(contains(error.message, "cuStreamIsCapturing of add on cuda:0 failed: CUDA_ERROR_ASSERT"));
  check_lost(launching, "CUDA_ERROR_ASSERT");
}

TEST_CASE("where the driver cannot say whether a stream is captured, the wait itself says what failed") {
  const Fake fake;
  fake->settings.hidden_symbols = {"cuStreamIsCapturing"};
  const Launching launching(fake);
  fake->fault_in_launch(CUresult::misaligned_address, 1);
  REQUIRE(launching.run(64));
  const Error error = error_of(launching.stream.synchronize("add"));
  CHECK(is_device_lost(error));
  CHECK(contains(error.message, "cuStreamSynchronize of add on cuda:0 failed: CUDA_ERROR_MISALIGNED_ADDRESS"));
}

TEST_CASE("a kernel that leaves its buffer is an illegal address, and a new context works") {
  const Fake fake;
  {
    const Launching launching(fake);
    REQUIRE(launching.run(65));  // one word too many
    check_lost(launching, "CUDA_ERROR_ILLEGAL_ADDRESS");
  }
  CHECK(fake->context_stack().empty());
  const Launching launching(fake);
  REQUIRE(launching.run(64));
  CHECK(launching.stream.synchronize());
}

TEST_CASE("a module that does not load leaves nothing behind") {
  const Fake fake;
  const auto context = fake.primary();
  fake->refuse_modules(CUresult::no_binary_for_gpu, "no kernel image");
  const Error error = error_of(Module::load_ptx(*context, kPtx, "p"));
  CHECK(error.code == Code::failed_precondition);
  CHECK(error.context.back() == "no kernel image");
  CHECK(fake->live() == FakeCounts{.contexts = 1});
}

}  // namespace
}  // namespace padlock::runtime::cuda
