#include "runtime/cuda/driver/driver.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "runtime/cuda/clock.h"
#include "runtime/cuda/devices.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

/// Sets the variable while it lives.
class DriverVariable {
 public:
  explicit DriverVariable(const char* value) { ::setenv(Driver::kFileVariable, value, 1); }
  DriverVariable(const DriverVariable&) = delete;
  DriverVariable& operator=(const DriverVariable&) = delete;
  ~DriverVariable() { ::unsetenv(Driver::kFileVariable); }
};

TEST_CASE("the driver is found, with all its functions") {
  const Fake fake;
  const auto driver = fake.load();
  REQUIRE(driver);
  CHECK((*driver)->version == 13000);
  CHECK((*driver)->file == PADLOCK_FAKE_CUDA);
#define PADLOCK_IS_THERE(symbol, version, parameters) \
  CHECK((*driver)->symbol);                           \
  CHECK(std::string((*driver)->symbol.name) == #symbol);
  PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_IS_THERE)
  PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_IS_THERE)
#undef PADLOCK_IS_THERE
}

TEST_CASE("the environment variable names the driver") {
  const Fake fake;
  const DriverVariable variable(PADLOCK_FAKE_CUDA);
  const auto driver = Driver::find();
  REQUIRE(driver);
  CHECK((*driver)->file == PADLOCK_FAKE_CUDA);
}

TEST_CASE("a driver that the process has loaded is used, wherever it came from") {
  const Fake fake;  // loaded by its path, which the dynamic linker does not search
  const auto driver = Driver::load("libpadlock_fake_cuda.so");
  REQUIRE(driver);
  CHECK(((*driver)->cuInit.address == (*fake.load())->cuInit.address));
}

TEST_CASE("no driver is an error that says what was looked for") {
  const DriverVariable variable("libno_such_cuda.so.1");
  const Error error = error_of(Driver::find());
  CHECK(error.code == Code::unavailable);
  CHECK(error.blame == Blame::environment);
  CHECK(
      error.message.starts_with("no CUDA driver: looked for libno_such_cuda.so.1 among the loaded libraries and with "
                                "the dynamic linker (libno_such_cuda.so.1: cannot open"));
  CHECK(error.message.ends_with(
      "; it comes with NVIDIA's driver, and PADLOCK_CUDA_DRIVER may name another file. Without a GPU "
      "take host or simt"));
}

TEST_CASE("an empty variable is none") {
  const DriverVariable variable("");
  const auto driver = Driver::find();
  if (driver) {
    CHECK((*driver)->file == "libcuda.so.1");
  } else {
    CHECK(contains(driver.error().message, "libcuda.so.1"));
  }
}

TEST_CASE("what is no driver is an error that names the function it lacks") {
  const Error error = error_of(Driver::load("libm.so.6"));
  CHECK(error.code == Code::unavailable);
  CHECK(error.message == "the CUDA driver libm.so.6 has no function cuDriverGetVersion");
}

TEST_CASE("a driver that is too old is an error with both versions, whatever else it lacks") {
  const Fake fake;
  fake->settings.driver_version = 11080;
  fake->settings.hidden_symbols = {"cuLaunchKernel"};
  const Error error = error_of(fake.load());
  CHECK(error.code == Code::unavailable);
  CHECK(error.message ==
        std::string("the CUDA driver ") + PADLOCK_FAKE_CUDA + " supports CUDA 11.8, 12.0 or later is needed");
  fake->settings = {.driver_version = 12000};
  CHECK(fake.load());
}

TEST_CASE("each required symbol is missed by its name, each optional one is not missed") {
  const Fake fake;
  const auto load_without = [&](const char* symbol) {
    fake->reset();
    fake->settings.hidden_symbols = {symbol};
    return fake.load();
  };
#define PADLOCK_IS_MISSED(symbol, version, parameters)                                                    \
  {                                                                                                       \
    const Error error = error_of(load_without(#symbol));                                                  \
    CHECK(error.code == Code::unavailable);                                                               \
    CHECK(error.message == "the CUDA driver " PADLOCK_FAKE_CUDA " (CUDA 13.0) has no function " #symbol); \
  }
  PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_IS_MISSED)
#undef PADLOCK_IS_MISSED
#define PADLOCK_IS_NULL(symbol, version, parameters) \
  {                                                  \
    const auto driver = load_without(#symbol);       \
    REQUIRE(driver);                                 \
    CHECK_FALSE((*driver)->symbol);                  \
  }
  PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_IS_NULL)
#undef PADLOCK_IS_NULL
}

TEST_CASE("without cuGetProcAddress the dynamic linker finds the functions") {
  const Fake fake(PADLOCK_FAKE_CUDA_WITHOUT_OPTIONAL);
  const auto driver = fake.load();
  REQUIRE(driver);
  CHECK_FALSE((*driver)->cuGetProcAddress_v2);
  CHECK_FALSE((*driver)->cuMemGetInfo_v2);
  CHECK((*driver)->cuStreamIsCapturing);
  const auto calls = fake->calls();
  CHECK(std::count(calls.begin(), calls.end(), "cuGetProcAddress_v2") == 0);

  const Fake lacking(PADLOCK_FAKE_CUDA_WITHOUT_REQUIRED);
  const Error error = error_of(lacking.load());
  CHECK(error.message == "the CUDA driver " PADLOCK_FAKE_CUDA_WITHOUT_REQUIRED
                         " (CUDA 13.0) has no function cuMemFree_v2");
}

TEST_CASE("a missing optional function takes only its own with it") {
  const Fake fake;
  fake->settings.hidden_symbols = {"cuMemGetInfo_v2", "cuStreamIsCapturing", "cuFuncGetAttribute"};
  fake->settings.memory_bytes = 1000;
  const auto context = fake.primary();
  CHECK_FALSE((*free_memory(*context)).has_value());
  const Stream stream = *Stream::create(*context);
  CHECK_FALSE((*stream.is_capturing()).has_value());
  CHECK(stream.synchronize());
  const Error error = error_of(DeviceBuffer::allocate(*context, 2000, "x"));
  CHECK(error.context.back() == "x needs 2000 bytes of device memory");
}

TEST_CASE("no device is an error of the call that found none") {
  const Fake fake;
  fake->settings.devices = 0;
  const Error error = error_of(fake.load());
  CHECK(error.code == Code::unavailable);
  CHECK(error.message == "cuInit failed: CUDA_ERROR_NO_DEVICE: as the fake driver was told");
}

TEST_CASE("an ordinal that there is not is an error of that device") {
  const Fake fake;
  const auto driver = *fake.load();
  for (const int ordinal : {-1, 1}) {
    const Error error = error_of(device_facts(*driver, ordinal));
    CHECK(error.code == Code::unavailable);
    CHECK(contains(error.message, "CUDA_ERROR_INVALID_DEVICE"));
  }
  CHECK(contains(error_of(Context::retain_primary(driver, 1)).message, "cuDeviceGet on cuda:1 failed: "));
}

TEST_CASE("a device's facts are the driver's") {
  const Fake fake;
  fake->settings.devices = 2;
  const auto devices = *list_devices(**fake.load());
  REQUIRE(devices.size() == 2);
  const GpuFacts& facts = devices[1];
  CHECK(facts.ordinal == 1);
  CHECK(facts.name == "Fake GPU");
  CHECK(facts.architecture() == "sm_90");
  CHECK(facts.multiprocessors == 132);
  CHECK(facts.max_grid_x == 2147483647);
  CHECK(facts.max_block_threads == 1024);
  CHECK(facts.max_shared_bytes == 49152);
  CHECK(facts.l2_bytes == std::int64_t{50} << 20);
  CHECK(facts.memory_bytes == std::int64_t{1} << 30);
  CHECK(facts.memory_bandwidth == 3352320000000);  // an H100's 3.35 TB/s
  CHECK(facts.driver_version == 13000);
}

TEST_CASE("a bandwidth that the driver does not know is 0, and what it cannot say an error") {
  const Fake fake;
  const auto driver = *fake.load();
  const auto fail_attribute = [&](int nth, CUresult status) {
    fake->fail({.function = "cuDeviceGetAttribute", .nth = nth, .status = status});
    return device_facts(*driver, 0);
  };
  for (const int nth : {8, 9}) {  // memory clock, bus width
    const auto facts = fail_attribute(nth, CUresult::invalid_value);
    REQUIRE(facts);
    CHECK(facts->memory_bandwidth == 0);
    CHECK(facts->memory_bytes == std::int64_t{1} << 30);
    CHECK_FALSE(fail_attribute(nth, CUresult::operating_system));
  }
  CHECK_FALSE(fail_attribute(7, CUresult::invalid_value));
}

TEST_CASE("an error names call, kernel and device, and says what the driver says") {
  const Fake fake;
  const auto driver = *fake.load();
  const Error error = driver->error_of(CUresult::invalid_value, "cuLaunchKernel", {.device = 3, .kernel = "k"});
  CHECK(error.message == "cuLaunchKernel of k on cuda:3 failed: CUDA_ERROR_INVALID_VALUE: as the fake driver was told");
  CHECK(error.code == Code::internal);
  CHECK(error.blame == Blame::internal);
  CHECK_FALSE(is_device_lost(error));
  CHECK(driver->error_of(CUresult::out_of_memory, "cuMemAlloc_v2", {}).message.starts_with("cuMemAlloc failed: "));
  const Error unlisted = driver->error_of(static_cast<CUresult>(12345), "cuInit", {});
  CHECK(unlisted.message == "cuInit failed: status 12345");
  CHECK(unlisted.code == Code::unknown);
  CHECK(unlisted.blame == Blame::environment);
}

TEST_CASE("statuses become codes, and sticky ones a lost device") {
  const Fake fake;
  const auto driver = *fake.load();
  const auto error = [&](CUresult status) { return driver->error_of(status, "cuStreamSynchronize", {}); };
  CHECK(error(CUresult::out_of_memory).code == Code::resource_exhausted);
  CHECK(error(CUresult::launch_out_of_resources).code == Code::resource_exhausted);
  CHECK(error(CUresult::no_device).code == Code::unavailable);
  CHECK(error(CUresult::unsupported_ptx_version).code == Code::unavailable);
  CHECK(error(CUresult::not_found).code == Code::not_found);
  CHECK(error(CUresult::not_found).blame == Blame::internal);
  CHECK(error(CUresult::stream_capture_unsupported).blame == Blame::user);
  for (const auto status : {CUresult::illegal_address, CUresult::launch_failed, CUresult::device_assert,
                            CUresult::ecc_uncorrectable, CUresult::hardware_stack_error, CUresult::launch_timeout,
                            CUresult::misaligned_address, CUresult::context_is_destroyed}) {
    CHECK(is_device_lost(error(status)));
    CHECK(error(status).blame == Blame::environment);
    CHECK(error(status).message.ends_with("; the device is lost"));
  }
  for (const auto status : {CUresult::out_of_memory, CUresult::device_unavailable, CUresult::unknown})
    CHECK_FALSE(is_device_lost(error(status)));
}

TEST_CASE("no status and no symbol is listed twice") {
  std::multiset<std::uint32_t> values;
  std::multiset<std::string> symbols;
#define PADLOCK_INSERT(enumerator, name, value, code) values.insert(value);
  PADLOCK_CUDA_STATUSES(PADLOCK_INSERT)
#undef PADLOCK_INSERT
#define PADLOCK_INSERT(symbol, version, parameters) symbols.insert(#symbol);
  PADLOCK_CUDA_BOOTSTRAP_SYMBOLS(PADLOCK_INSERT)
  PADLOCK_CUDA_REQUIRED_SYMBOLS(PADLOCK_INSERT)
  PADLOCK_CUDA_OPTIONAL_SYMBOLS(PADLOCK_INSERT)
#undef PADLOCK_INSERT
  CHECK(values.size() == std::set(values.begin(), values.end()).size());
  CHECK(symbols.size() == std::set(symbols.begin(), symbols.end()).size());
}

TEST_CASE("a device's clock is read where there is a management library that knows the device") {
  const Fake fake;
  const auto driver = *fake.load();
  const auto clock = DeviceClock::open(*driver, 0, PADLOCK_FAKE_NVML);
  REQUIRE(clock);
  CHECK(clock->megahertz() == 1980.0);
  CHECK(DeviceClock::open(*driver, 0, "libno_such_nvml.so.1") == nullptr);
  CHECK(DeviceClock::open(*driver, 99, PADLOCK_FAKE_NVML) == nullptr);
  ::setenv("PADLOCK_FAKE_NVML_FAILS", "1", 1);
  CHECK(DeviceClock::open(*driver, 0, PADLOCK_FAKE_NVML) == nullptr);
  ::unsetenv("PADLOCK_FAKE_NVML_FAILS");
}

}  // namespace
}  // namespace padlock::runtime::cuda
