// Failures on a GPU: the right error, nothing written or left behind, an unchanged context stack.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "tests/common/host_arrays.h"
#include "tests/session/cuda_twins.h"

namespace padlock::session {
namespace {

using runtime::UserBuffer;
using runtime::cuda::contains;
using runtime::cuda::CUresult;
using runtime::cuda::error_of;

constexpr const char* kAdd = "program sum(x: i32[n], y: i32[n], v: i32) { z = add(x, y) w = add(z, v) return w }";

ir::BindRequest of_length(std::int64_t n) {
  const ir::ArgumentShape shape{.extents = {n}, .strides = {}};
  return {.tensors = {shape, shape}, .symbols = {}};
}

/// A compiled program, bound to 100 elements, with device memory for all arguments, whose content does not matter.
struct Bound {
  explicit Bound(const FakeGpu& fake) : twins(fake, context, kAdd), program(twins.bind(of_length(100))) {
    fake->register_twin(
        "sum_0_one_vector", [](void*, const std::uint64_t*, std::size_t, unsigned, unsigned) {}, nullptr);
  }
  [[nodiscard]] Status launch(const UserBuffer& x, const UserBuffer& y, const UserBuffer& w, std::size_t scalars = 1) {
    const std::array<std::uint64_t, 2> bits{};
    return program.launch({std::array{x, y}, std::array{w}, std::span(bits).first(scalars)});
  }
  [[nodiscard]] Status launch() { return launch(at(0x10000), at(0x20000), at(0x30000)); }
  static UserBuffer at(std::uintptr_t address, std::int64_t bytes = 400) {
    return {reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
  }

  Context context;
  TwinProgram twins;
  BoundProgram program;
};

TEST_CASE("arguments that do not fit are refused before the driver is called") {
  const FakeGpu fake;
  Bound bound(fake);
  fake->forget_calls();
  const auto message = [&](Status status) {
    const Error error = error_of(std::move(status));
    CHECK(error.code == Code::invalid_argument);
    return error.message;
  };
  const UserBuffer x = Bound::at(0x10000), y = Bound::at(0x20000), w = Bound::at(0x30000);
  CHECK(message(bound.launch(Bound::at(0x10000, 396), y, w)) == "the buffer of input x has 396 bytes, 400 are needed");
  CHECK(message(bound.launch(x, Bound::at(0), w)) == "the buffer of input y is null, 400 bytes are needed");
  CHECK(message(bound.launch(x, y, Bound::at(0x10000 + 396))) == "the buffers of result w and input x overlap");
  CHECK(message(bound.launch(x, Bound::at(0x20002), w)) ==
        "the buffer of input y begins at 0x20002, a multiple of 4 is needed (i32)");
  CHECK(message(bound.launch(x, y, Bound::at(0x30001))) ==
        "the buffer of result w begins at 0x30001, a multiple of 4 is needed (i32)");
  CHECK(message(bound.launch(x, y, w, 2)) == "expected 1 scalars, found 2");
  CHECK(fake->calls().empty());
  CHECK(bound.launch(x, y, Bound::at(0x10000 + 400)));
  CHECK(fake->launches() == 1);
}

TEST_CASE("a failed bounds check is reported by the next call that waits, once") {
  const FakeGpu fake;
  Bound bound(fake);
  const auto fault = [](void*, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
    *std::bit_cast<abi::AccessFault*>(words[0]) = {.claimed = 1, .access = 1, .coordinate = 777, .extent = 100};
  };
  fake->register_twin("sum_0_one_vector", fault, nullptr);
  REQUIRE(bound.launch());
  const Error error = error_of(bound.program.synchronize());
  CHECK(error.code == Code::internal);
  CHECK(error.message == "kernel sum_0: load of y is out of bounds: offset 777, storage of 100 elements");
  CHECK(bound.program.synchronize());
  REQUIRE(bound.launch());
  CHECK(error_of(bound.program.synchronize()).message == error.message);
  const Arrays arrays(bound.program);
  CHECK(error_of(padlock::testing::run_on_host_arrays(bound.program, arrays.arguments())).message == error.message);
}

TEST_CASE("a launch that fails names the kernel, and the device can be used on") {
  const FakeGpu fake;
  Bound bound(fake);
  fake->fail({.function = "cuLaunchKernelEx", .status = CUresult::launch_out_of_resources});
  const Error error = error_of(bound.launch());
  CHECK(error.code == Code::resource_exhausted);
  CHECK(contains(error.message,
                 "cuLaunchKernelEx of sum_0_one_vector on cuda:0 failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  CHECK(bound.launch());
  CHECK(bound.program.synchronize());
}

TEST_CASE("a lost device is told apart, by each later call") {
  const FakeGpu fake;
  Bound bound(fake);
  fake->fault_in_launch(CUresult::illegal_address, 1);
  REQUIRE(bound.launch());
  const Error error = error_of(bound.program.synchronize());
  CHECK(is_device_lost(error));
  CHECK(contains(error.message, "of sum on cuda:0 failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
  CHECK(is_device_lost(error_of(bound.launch())));
  CHECK(is_device_lost(error_of(bound.program.synchronize())));
  const Arrays arrays(bound.program);
  CHECK(is_device_lost(error_of(padlock::testing::run_on_host_arrays(bound.program, arrays.arguments()))));
  const auto again = bound.context.compile(bound.twins.compiled().program(), {.device = {runtime::DeviceKind::cuda}});
  CHECK(is_device_lost(error_of(again)));
}

TEST_CASE("code that does not load is an error of the binding that takes it") {
  const FakeGpu fake;
  fake->refuse_modules(CUresult::unsupported_ptx_version, "ptxas fatal   : Unsupported .version 9.9");
  Context context;
  const auto compiled = context.compile(*Program::from_text(kAdd), {.device = {runtime::DeviceKind::cuda}});
  REQUIRE(compiled);
  const Error error = error_of(compiled->bind(of_length(100)));
  CHECK(error.code == Code::unavailable);
  CHECK(contains(error.message, "cuModuleLoadDataEx on cuda:0 failed: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
  CHECK(error.context ==
        std::vector<std::string>{"while loading module sum_0_one_vector", "ptxas fatal   : Unsupported .version 9.9"});
  CHECK(fake->live().modules == 0);
  fake->refuse_modules(CUresult::success, "");
  CHECK(compiled->bind(of_length(100)));
}

/// Everything that a program does on a GPU, and the driver's calls until all of it is given back.
Status whole_scenario(const Program& program, Context& context) {
  PADLOCK_TRY(const CompiledProgram compiled, context.compile(program, {.device = {runtime::DeviceKind::cuda}}));
  PADLOCK_TRY(const BoundProgram bound, compiled.bind(of_length(100)));
  const Arrays arrays(bound);
  return padlock::testing::run_on_host_arrays(bound, arrays.arguments());
}

void prepare(FakeGpu& fake) {
  fake->reset();
  fake->register_twin("sum_0_one_vector", [](void*, const std::uint64_t*, std::size_t, unsigned, unsigned) {}, nullptr);
}

TEST_CASE("memory that runs out at any allocation is named, and all is given back") {
  FakeGpu fake;
  const Program program = *Program::from_text(kAdd);
  const std::array whats = {"the error words of sum needs 32 bytes", "input x needs 400 bytes", "input y needs",
                            "result w needs"};
  for (std::size_t n = 0; n <= whats.size(); ++n) {
    CAPTURE(n);
    prepare(fake);
    {
      Context context;
      fake->fail({.function = "cuMemAlloc_v2", .nth = static_cast<int>(n) + 1, .status = CUresult::out_of_memory});
      const Status status = whole_scenario(program, context);
      CHECK(status.has_value() == (n == whats.size()));
      if (!status) {
        CHECK(status.error().code == Code::resource_exhausted);
        CHECK_MESSAGE(contains(status.error().to_string(), whats.at(n)), status.error().to_string());
      }
    }
    fake.check_clean();
  }
}

/// Returns whether a call gives something back, or makes the context current for that: its status is ignored.
bool gives_back(const std::vector<std::string>& calls, std::size_t n) {
  static const std::set<std::string> kCalls = {"cuCtxPopCurrent_v2", "cuMemFree_v2", "cuModuleUnload",
                                               "cuStreamDestroy_v2", "cuDevicePrimaryCtxRelease_v2"};
  while (calls[n] == "cuCtxGetCurrent" || calls[n] == "cuCtxPushCurrent_v2") ++n;
  // Every second one undoes the one before it.
  if (calls[n] == "cuThreadExchangeStreamCaptureMode")
    return std::count(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(n), calls[n]) % 2 == 1;
  return kCalls.contains(calls[n]);
}

TEST_CASE("each call of the driver may fail, or lose the device") {
  FakeGpu fake;
  const Program program = *Program::from_text(kAdd);
  prepare(fake);
  {
    Context context;
    REQUIRE(whole_scenario(program, context));
  }
  std::vector<std::string> calls = fake->calls();
  std::erase(calls, "cuGetProcAddress_v2");
  CHECK(calls.size() > 80);
  for (const bool lost : {false, true})
    for (std::size_t n = 0; n < calls.size(); ++n) {
      CAPTURE(calls[n]);
      CAPTURE(n);
      prepare(fake);
      {
        Context context;
        fake->fail({.nth = static_cast<int>(n) + 1,
                    .status = lost ? CUresult::ecc_uncorrectable : CUresult::unknown,
                    .sticky = lost});
        const Status status = whole_scenario(program, context);
        if (!gives_back(calls, n)) CHECK_FALSE(status);
        if (!status) {
          CHECK(status.error().blame == Blame::environment);
          const bool named = contains(status.error().message, "cu") && contains(status.error().message, " failed: ");
          CHECK_MESSAGE(named, status.error().to_string());
        }
      }
      fake.check_clean();
    }
}

TEST_CASE("devices are listed as the driver has them") {
  FakeGpu fake;
  fake->settings.devices = 2;
  CHECK(runtime::Devices::check({runtime::DeviceKind::cuda, 1}));
  const std::vector<runtime::DeviceInfo> devices = runtime::Devices::list();
  REQUIRE(devices.size() == 5);
  const runtime::DeviceInfo& second = devices[4];
  CHECK(second.id.to_string() == "cuda:1");
  CHECK(second.available);
  CHECK(second.description == "Fake GPU, sm_90, 132 multiprocessors, L2 50 MiB, memory 1024 MiB at 3352 GB/s");
  REQUIRE(second.gpu.has_value());
  CHECK(second.gpu->name == "Fake GPU");
  CHECK(second.gpu->architecture() == "sm_90");
  CHECK(second.gpu->multiprocessors == 132);
  CHECK(second.gpu->l2_bytes == 50 << 20);
  CHECK(second.gpu->memory_bytes == 1 << 30);
  CHECK(second.gpu->driver_version == 13000);
  CHECK(fake->made().contexts == 0);

  CHECK(error_of(runtime::Devices::check({runtime::DeviceKind::cuda, 2})).message ==
        "device cuda:2 is not available: " PADLOCK_FAKE_CUDA " has 2 devices");
  fake->settings.compute_major = 6;
  CHECK(contains(error_of(runtime::Devices::check({runtime::DeviceKind::cuda, 0})).message,
                 "Fake GPU is of sm_60, code can be made for"));
  CHECK_FALSE(runtime::Devices::list()[3].available);
}

TEST_CASE("without a device, the message says what was looked for") {
  FakeGpu fake;
  const auto message = [&](const FakeGpu& gpu, auto&& set) {
    gpu->reset();
    set(gpu->settings);
    const Error error = error_of(runtime::Devices::check({runtime::DeviceKind::cuda}));
    CHECK(error.code == Code::unavailable);
    const std::vector<runtime::DeviceInfo> devices = runtime::Devices::list();
    CHECK(devices.size() == 4);
    CHECK(devices.back().description == error.message);
    CHECK_FALSE(devices.back().gpu.has_value());
    Context context;
    const Error compiled =
        error_of(context.compile(*Program::from_text(kAdd), {.device = {runtime::DeviceKind::cuda}}));
    CHECK(compiled.message == error.message);
    return error.message;
  };
  const std::string start = "device cuda:0 is not available: ";
  CHECK(message(fake, [](auto& settings) { settings.devices = 0; }) ==
        start + "cuInit failed: CUDA_ERROR_NO_DEVICE: as the fake driver was told");
  CHECK(message(fake, [](auto& settings) { settings.driver_version = 11080; }) ==
        start + "the CUDA driver " PADLOCK_FAKE_CUDA " supports CUDA 11.8, 12.0 or later is needed");
  CHECK(message(fake, [](auto& settings) { settings.hidden_symbols = {"cuLaunchKernel"}; }) ==
        start + "the CUDA driver " PADLOCK_FAKE_CUDA " (CUDA 13.0) has no function cuLaunchKernel");
}

}  // namespace
}  // namespace padlock::session
