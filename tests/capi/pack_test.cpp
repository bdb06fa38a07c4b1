// Packs through the C API: a kernel's results, each refusal with its status, and a failure of each allocation.
#include <vector>

#include "session/compile/context.h"
#include "tests/allocation_count.h"
#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

const std::vector<std::byte>& packed() {
  static const std::vector<std::byte> kBytes = [] {
    session::Context context;
    return *context.pack({*session::Program::from_text(kPadRelu)}, {"host"});
  }();
  return kBytes;
}

Pack read(padlock_context* context) {
  Pack pack;
  Error error;
  REQUIRE_OK(padlock_pack_read(context, packed().data(), packed().size(), pack.out(), error.out()), error);
  return pack;
}

Kernel kernel_of(padlock_pack* pack, const char* device = nullptr) {
  Kernel kernel;
  Error error;
  REQUIRE_OK(padlock_pack_kernel(pack, "pad_relu", device, kernel.out(), error.out()), error);
  return kernel;
}

TEST_CASE("a kernel from a pack is bound and launched as any is") {
  const Context context = make_context();
  const Pack pack = read(context);
  REQUIRE(padlock_pack_program_count(pack) == 1);
  CHECK(padlock_pack_program_name(pack, 0) == std::string("pad_relu"));
  CHECK(padlock_pack_program_name(pack, 1) == std::string());
  for (const char* device : {"host", "reference"}) {
    const Kernel kernel = kernel_of(pack, device);
    const PadReluSizes sizes(3, 21, -2);
    const Call call = bind(kernel, sizes);
    std::vector<float> x(63), z(static_cast<std::size_t>(result_of(call).storage_bytes) / sizeof(float));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = element(static_cast<std::int64_t>(i));
    const void* from[] = {x.data()};
    void* to[] = {z.data()};
    Error error;
    REQUIRE_OK(padlock_call_launch(call, from, 1, to, 1, nullptr, error.out()), error);
    CHECK(wrong_elements(z.data(), 3, 21, -2) == 0);
  }
}

TEST_CASE("a kernel is loaded once, and outlives its pack") {
  const Context context = make_context();
  Kernel first, second;
  {
    const Pack pack = read(context), again = read(context);
    first = kernel_of(pack);
    second = kernel_of(again, "host");
  }
  CHECK(first.get() == second.get());
  CHECK(bind(first, PadReluSizes(1, 8, 0)).get() != nullptr);
}

TEST_CASE("a program of a pack tells its parameters and sizes") {
  const Context context = make_context();
  const Pack pack = read(context);
  Program program;
  Error error;
  REQUIRE_OK(padlock_pack_program(pack, nullptr, program.out(), error.out()), error);
  CHECK(padlock_program_parameter_count(program) == 3);
  Text text;
  REQUIRE_OK(padlock_pack_describe(pack, text.out(), error.out()), error);
  CHECK(std::string(padlock_text_data(text)).find("\"name\": \"pad_relu\"") != std::string::npos);
}

TEST_CASE("what cannot be served has its status") {
  const Context context = make_context();
  Pack none;
  Error error;
  CHECK(padlock_pack_read(context, packed().data(), packed().size() - 1, none.out(), error.out()) == PADLOCK_DATA_LOSS);
  CHECK(padlock_pack_read(context, nullptr, 5, none.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_pack_load(context, "/nowhere/x.pack", none.out(), error.out()) == PADLOCK_NOT_FOUND);
  const Pack pack = read(context);
  Kernel kernel;
  CHECK(padlock_pack_kernel(pack, "other", nullptr, kernel.out(), error.out()) == PADLOCK_NOT_FOUND);
  CHECK(padlock_pack_kernel(pack, nullptr, "toaster", kernel.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_pack_kernel(pack, nullptr, "simt", kernel.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_pack_kernel(nullptr, nullptr, nullptr, kernel.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(kernel.get() == nullptr);
}

TEST_CASE("each allocation of loading a pack may fail, and the next call works") {
  const Context context = make_context();
  const auto load = [&](padlock_error** error) {
    Pack pack;
    Kernel kernel;
    const padlock_status status = padlock_pack_read(context, packed().data(), packed().size(), pack.out(), error);
    if (status != PADLOCK_OK) return status;
    return padlock_pack_kernel(pack, nullptr, nullptr, kernel.out(), error);
  };
  REQUIRE(load(nullptr) == PADLOCK_OK);
  padlock_context_trim(context);
  const long before = padlock::testing::live_allocations();
  long failures = 0;
  for (bool came = true; came; ++failures) {
    padlock::testing::fail_allocation(failures);
    Error error;
    const padlock_status status = load(error.out());
    came = padlock::testing::allocation_failed();
    padlock::testing::fail_allocation(-1);
    error = Error();
    padlock_context_trim(context);
    CAPTURE(failures);
    REQUIRE(status == (came ? PADLOCK_RESOURCE_EXHAUSTED : PADLOCK_OK));
    REQUIRE(padlock::testing::live_allocations() == before);
  }
  CHECK(failures > 100);
}

}  // namespace
}  // namespace padlock::capi::testing
