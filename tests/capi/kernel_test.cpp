// Programs and kernels, and which of them a context keeps.
#include <atomic>
#include <thread>

#include "tests/capi/capi_testing.h"

extern "C" int padlock_test_c_version(void);

namespace padlock::capi::testing {
namespace {

padlock_statistics statistics_of(const padlock_context* context) {
  padlock_statistics statistics = sized<padlock_statistics>();
  REQUIRE(padlock_context_statistics(context, &statistics, nullptr) == PADLOCK_OK);
  return statistics;
}

TEST_CASE("a program that was compiled with an older header can tell which library it has") {
  CHECK(padlock_api_version() == PADLOCK_API_VERSION);
  CHECK(padlock_test_c_version() == PADLOCK_API_VERSION);
  CHECK(std::string(padlock_version()).find('.') != std::string::npos);
}

TEST_CASE("a program tells its parameters and results in the order in which a binding takes them") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  CHECK(padlock_program_name(program) == std::string("pad_relu"));
  REQUIRE(padlock_program_parameter_count(program) == 3);
  struct Expected {
    const char* name;
    padlock_parameter_kind kind;
    int ndim, code, bits;
  };
  const Expected expected[] = {{"x", PADLOCK_TENSOR, 2, kDLFloat, 32},
                               {"v", PADLOCK_SCALAR, 0, kDLFloat, 32},
                               {"lo", PADLOCK_DIM, 0, kDLInt, 64}};
  padlock_parameter_info info = sized<padlock_parameter_info>();
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(padlock_program_parameter(program, i, &info, nullptr) == PADLOCK_OK);
    CHECK(info.name == std::string(expected[i].name));
    CHECK(info.kind == expected[i].kind);
    CHECK(info.ndim == expected[i].ndim);
    CHECK(static_cast<int>(info.dtype.code) == expected[i].code);
    CHECK(static_cast<int>(info.dtype.bits) == expected[i].bits);
  }
  REQUIRE(padlock_program_result_count(program) == 1);
  REQUIRE(padlock_program_result(program, 0, &info, nullptr) == PADLOCK_OK);
  CHECK(info.name == std::string("z"));
  CHECK(padlock_program_result(program, 1, &info, nullptr) == PADLOCK_OUT_OF_RANGE);
}

TEST_CASE("results' extents are known without compiling, and such a call does not launch") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  const PadReluSizes sizes(4, 10, 3);
  Call call;
  Error error;
  REQUIRE_OK(padlock_program_bind(program, &sizes.options, call.out(), error.out()), error);
  const padlock_tensor_info z = result_of(call);
  CHECK(z.name == std::string("z"));
  REQUIRE(z.ndim == 2);
  CHECK(z.extents[0] == 4);
  CHECK(z.extents[1] == 16);
  CHECK(z.strides[0] == 16);
  CHECK(z.storage_bytes == 256);
  CHECK(statistics_of(context).programs_compiled == 0);
  const void* const inputs[] = {nullptr};
  void* const results[] = {nullptr};
  CHECK(padlock_call_launch(call, inputs, 1, results, 1, nullptr, error.out()) == PADLOCK_FAILED_PRECONDITION);
  CHECK(padlock_error_message(error) ==
        std::string("expected a call of a kernel, found one that was bound for its sizes alone"));
}

TEST_CASE("a kernel is compiled once for all who ask for it, whoever keeps it") {
  const Context context = make_context();
  constexpr int kThreads = 8;
  std::vector<Kernel> kernels(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      Program program;
      if (padlock_program_parse(context, kPadRelu, std::strlen(kPadRelu), program.out(), nullptr) != PADLOCK_OK ||
          padlock_program_compile(program, nullptr, kernels[static_cast<std::size_t>(i)].out(), nullptr) != PADLOCK_OK)
        ++failures;
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(failures == 0);
  for (const Kernel& kernel : kernels) CHECK(kernel.get() == kernels[0].get());
  CHECK(statistics_of(context).programs_compiled == 1);
  CHECK(statistics_of(context).look_ups == kThreads - 1);
  CHECK(statistics_of(context).kernels_cached == 1);

  CHECK(padlock_context_trim(context) == 0);
  kernels.clear();
  CHECK(statistics_of(context).kernels_cached == 1);
  CHECK(padlock_context_trim(context) == 1);
  CHECK(statistics_of(context).kernels_cached == 0);
}

TEST_CASE("each of text, device, config and bounds check makes another kernel") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  const Kernel host = compile(program);
  CHECK(padlock_kernel_config(host) != std::string());
  const auto other = [&](const char* device, const char* config, int bounds_check, padlock_program* source) {
    padlock_compile_options options = sized<padlock_compile_options>();
    options.device = device;
    options.config = config;
    options.bounds_check = bounds_check;
    Kernel kernel;
    Error error;
    REQUIRE_OK(padlock_program_compile(source, &options, kernel.out(), error.out()), error);
    return kernel.get() != host.get();
  };
  const Program same = parse(context, kPadRelu);
  CHECK_FALSE(other(nullptr, nullptr, 0, same));
  CHECK(other("reference", nullptr, 0, program));
  CHECK(other("host", padlock_kernel_config(host), 0, program));
  CHECK(other("host", nullptr, 1, program));
  CHECK(other(nullptr, nullptr, 0, parse(context, std::string(kPadRelu) + "\n")));
}

TEST_CASE("of what does not compile nothing is kept") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  padlock_compile_options options = sized<padlock_compile_options>();
  options.config = "nonsense=1";
  Kernel kernel;
  CHECK(padlock_program_compile(program, &options, kernel.out(), nullptr) == PADLOCK_INVALID_ARGUMENT);
  CHECK(kernel.get() == nullptr);
  CHECK(statistics_of(context).kernels_cached == 0);
  CHECK(padlock_context_trim(context) == 0);
}

TEST_CASE("what a handle needs outlives the handles that it was made from") {
  Call call;
  {
    Kernel kernel;
    {
      const Context context = make_context();
      const Program program = parse(context, kPadRelu);
      kernel = compile(program);
    }
    call = bind(kernel, PadReluSizes(2, 8, 0));
  }
  std::vector<float> x(16), z(16);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = element(static_cast<std::int64_t>(i));
  const void* const inputs[] = {x.data()};
  void* const results[] = {z.data()};
  CHECK(padlock_call_launch(call, inputs, 1, results, 1, nullptr, nullptr) == PADLOCK_OK);
  CHECK(wrong_elements(z.data(), 2, 8, 0) == 0);
}

TEST_CASE("references are counted, and NULL is taken") {
  const Context context = make_context();
  Kernel kernel = compile(parse(context, kPadRelu));
  padlock_kernel_retain(kernel);
  padlock_kernel* const second = kernel;
  kernel = Kernel();
  CHECK(padlock_context_trim(context) == 0);
  padlock_kernel_release(second);
  CHECK(padlock_context_trim(context) == 1);
  padlock_kernel_release(nullptr);
  padlock_context_retain(nullptr);
  padlock_call_release(nullptr);
}

}  // namespace
}  // namespace padlock::capi::testing
