// A caller's CUDA context and stream, with the fake driver.
#include <bit>

#include "capi/launch/context.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/stream.h"
#include "tests/capi/capi_testing.h"
#include "tests/session/cuda_twins.h"

/// main() of examples/embedding/cuda_stream.c.
extern "C" int padlock_example_cuda_stream(void);

namespace padlock::capi::testing {
namespace {

using runtime::cuda::CUcontext;
using runtime::cuda::DeviceBuffer;
using runtime::cuda::Stream;

/// pad_relu on cuda:0, with its arrays in device memory.
struct OnGpu {
  OnGpu(session::FakeGpu& fake, padlock_context* context, CUcontext callers)
      : twins(fake, static_cast<session::Context&>(*context->launching), kPadRelu),
        kernel(compile(parse(context, kPadRelu), "cuda:0")),
        device(callers != nullptr ? *runtime::cuda::Context::borrow(*fake.load(), callers) : fake.primary()),
        stream(*Stream::create(*device)),
        x(*DeviceBuffer::allocate(*device, 16 * 16 * 4, "x")),
        z(*DeviceBuffer::allocate(*device, 16 * 16 * 4, "z")) {
    std::vector<float> data(16 * 16);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = element(static_cast<std::int64_t>(i));
    REQUIRE(runtime::cuda::copy_to_device(stream, x.address(), std::as_bytes(std::span(data))));
    sizes.tensor.device = {kDLCUDA, 0};
    call = bind(kernel, sizes);
    (void)twins.bind({.tensors = {ir::ArgumentShape{{16, 16}, {}}}, .symbols = {{"lo", 0}}});
  }
  padlock_status launch(padlock_error** error = nullptr) {
    const void* const inputs[] = {x.data()};
    void* const results[] = {z.data()};
    return padlock_call_launch(call, inputs, 1, results, 1, stream.handle(), error);
  }
  int wrong() {
    std::vector<float> result(16 * 16);
    REQUIRE(runtime::cuda::copy_to_host(stream, std::as_writable_bytes(std::span(result)), z.address()));
    return wrong_elements(result.data(), 16, 16, 0);
  }

  session::TwinProgram twins;
  Kernel kernel;
  std::unique_ptr<const runtime::cuda::Context> device;
  Stream stream;
  DeviceBuffer x, z;
  PadReluSizes sizes{16, 16, 0};
  Call call;
};

TEST_CASE("a launch goes to the caller's stream of the caller's context, which stays as it was") {
  session::FakeGpu fake;
  for (const bool own_context : {false, true}) {
    CAPTURE(own_context);
    padlock_context_options options = sized<padlock_context_options>();
    CUcontext callers = own_context ? fake->create_context(0) : nullptr;
    options.cuda_context = callers;
    {
      const Context context = make_context(&options);
      OnGpu gpu(fake, context, callers);
      Error error;
      REQUIRE_OK(gpu.launch(error.out()), error);
      REQUIRE_OK(padlock_call_synchronize(gpu.call, gpu.stream.handle(), error.out()), error);
      CHECK(gpu.wrong() == 0);
      CHECK(gpu.twins.take_launches().size() == 1);
      CHECK(fake->context_stack().empty());
      fake->begin_capture(gpu.stream.handle());
      CHECK(gpu.launch() == PADLOCK_OK);
      CHECK(padlock_call_synchronize(gpu.call, gpu.stream.handle(), error.out()) == PADLOCK_FAILED_PRECONDITION);
      CHECK(fake->end_capture(gpu.stream.handle()) == 1);
    }
    if (own_context) fake->destroy_context(callers);
  }
}

TEST_CASE("the example with a caller's context and stream runs, its launch between its copies") {
  session::FakeGpu fake;
  const auto twin = [](void*, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
    const auto* const x = std::bit_cast<const float*>(words[1]);
    auto* const y = std::bit_cast<float*>(words[2]);
    for (int i = 0; i < 12; ++i) y[i] = i >= 2 && i < 8 ? x[i - 2] : -1.0f;
  };
  for (const char* kernel : {"pad_0", "pad_0_one_vector"}) fake->register_twin(kernel, twin, nullptr);
  CHECK(padlock_example_cuda_stream() == 0);
  CHECK(fake->launches() == 1);
}

TEST_CASE("tensors of another device are refused") {
  session::FakeGpu fake;
  const Context context = make_context();
  OnGpu gpu(fake, context, nullptr);
  gpu.sizes.tensor.device = {kDLCPU, 0};
  Call call;
  Error error;
  CHECK(padlock_kernel_bind(gpu.kernel, &gpu.sizes.options, call.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected 'x' in memory of cuda:0, found DLPack device 1:0"));
}

}  // namespace
}  // namespace padlock::capi::testing
