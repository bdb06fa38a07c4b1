// Launches: the tensors that they accept, and everything that they refuse before anything is written.
#include <algorithm>
#include <initializer_list>

#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

struct Sizes {
  std::int64_t rows, columns, low;
};

std::vector<float> elements(std::int64_t count) {
  std::vector<float> x(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) x[static_cast<std::size_t>(i)] = element(i);
  return x;
}

padlock_status launch(const padlock_call* call, const void* x, void* z, padlock_error** error = nullptr) {
  const void* const inputs[] = {x};
  void* const results[] = {z};
  return padlock_call_launch(call, inputs, 1, results, 1, nullptr, error);
}

TEST_CASE("one kernel serves every size, on every device of the host") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  for (const char* device : {"host", "reference", "simt"}) {
    CAPTURE(device);
    const Kernel kernel = compile(program, device);
    for (const auto& [rows, columns, low] :
         std::initializer_list<Sizes>{{1, 0, 0}, {1, 0, 3}, {4, 10, -3}, {3, 17, 8}, {2, 8, -8}, {33, 65, 1}}) {
      CAPTURE(columns);
      const Call call = bind(kernel, PadReluSizes(rows, columns, low));
      const std::vector<float> x = elements(rows * columns);
      std::vector<float> z(static_cast<std::size_t>(result_of(call).storage_bytes / 4), 99.0f);
      Error error;
      REQUIRE_OK(launch(call, x.empty() ? nullptr : x.data(), z.empty() ? nullptr : z.data(), error.out()), error);
      CHECK(wrong_elements(z.data(), rows, columns, low) == 0);
    }
  }
}

TEST_CASE("on the host data may be aligned to anything, whatever the call was bound with") {
  const Context context = make_context();
  const Kernel kernel = compile(parse(context, kPadRelu));
  const Call call = bind(kernel, PadReluSizes(5, 100, 3));
  const std::vector<float> x = elements(500);
  const auto bytes = static_cast<std::size_t>(result_of(call).storage_bytes);
  for (std::size_t x_shift = 0; x_shift < 5; ++x_shift)
    for (std::size_t z_shift = 0; z_shift < 5; ++z_shift) {
      std::vector<char> from(x.size() * 4 + 8), to(bytes + 8);
      std::memcpy(from.data() + x_shift, x.data(), x.size() * 4);
      REQUIRE(launch(call, from.data() + x_shift, to.data() + z_shift) == PADLOCK_OK);
      std::vector<float> z(bytes / 4);
      std::memcpy(z.data(), to.data() + z_shift, bytes);
      CHECK(wrong_elements(z.data(), 5, 100, 3) == 0);
    }
  // Kernels of a GPU take their elements' alignment for granted, so it is tested.
  const Call on_simt = bind(compile(parse(context, kPadRelu), "simt"), PadReluSizes(1, 8, 0));
  std::vector<float> z(8, 99.0f);
  Error error;
  CHECK(launch(on_simt, reinterpret_cast<const char*>(x.data()) + 1, z.data(), error.out()) ==
        PADLOCK_INVALID_ARGUMENT);
  CHECK(std::string(padlock_error_message(error)).find("the buffer of input x begins at") == 0);
  CHECK(z == std::vector<float>(8, 99.0f));
}

TEST_CASE("pointers that cannot be right are refused, and nothing is written") {
  const Context context = make_context();
  const Call call = bind(compile(parse(context, kPadRelu)), PadReluSizes(1, 8, 0));
  std::vector<float> memory(15, 99.0f);
  Error error;
  CHECK(launch(call, memory.data(), memory.data() + 7, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("the buffers of result z and input x overlap"));
  CHECK(launch(call, nullptr, memory.data(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("the buffer of input x is null, 32 bytes are needed"));
  CHECK(launch(call, memory.data(), nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_call_launch(call, nullptr, 1, nullptr, 1, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected the pointers of a launch, found NULL"));
  const void* const inputs[] = {memory.data()};
  CHECK(padlock_call_launch(call, inputs, 1, nullptr, 0, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected 1 input and 1 output buffers, found 1 and 0"));
  CHECK(padlock_call_launch(nullptr, inputs, 1, nullptr, 0, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("expected a call, found NULL"));
  CHECK(memory == std::vector<float>(15, 99.0f));
}

constexpr const char* kStrided = R"(program view(x: f32[B, S] strides [P, 1], n: i16[K])
{ y = pad(x, low = [0, 1], high = [0, 1], value = -1) m = pad(n, low = [1], high = [0], value = 7) return y, m })";

TEST_CASE("tensors: a strided view behind a byte offset, and one without elements or data") {
  const Context context = make_context();
  const Kernel kernel = compile(parse(context, kStrided));
  const std::vector<float> base = elements(3 * 10 + 2);
  Tensor x({3, 4}, {10, 1}), n({0}), y({3, 6}), m({1}, {1});
  DLTensor x_view = x.view(base.data()), n_view = n.view();
  x_view.byte_offset = 8;
  n_view.dtype = {.code = kDLInt, .bits = 16, .lanes = 1};
  const DLTensor* const inputs[] = {&x_view, &n_view};
  padlock_bind_options options = sized<padlock_bind_options>();
  options.inputs = inputs;
  options.input_count = 2;
  Call call;
  Error error;
  REQUIRE_OK(padlock_kernel_bind(kernel, &options, call.out(), error.out()), error);

  std::vector<float> y_data(18, 99.0f);
  std::int16_t m_data = 0;
  DLTensor y_view = y.view(y_data.data()), m_view = m.view(&m_data);
  m_view.dtype = n_view.dtype;
  const DLTensor* const results[] = {&y_view, &m_view};
  REQUIRE_OK(padlock_call_launch_tensors(call, inputs, 2, results, 2, nullptr, error.out()), error);
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t column = 0; column < 6; ++column) {
      const float expected = column == 0 || column == 5 ? -1.0f : element(2 + row * 10 + column - 1);
      CHECK(y_data[static_cast<std::size_t>(row * 6 + column)] == expected);
    }
  CHECK(m_data == 7);

  SUBCASE("a tensor that is not what was bound is refused, with its axis") {
    x.strides[0] = 11;
    CHECK(padlock_call_launch_tensors(call, inputs, 2, results, 2, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
    CHECK(padlock_error_message(error) == std::string("stride of axis 0 of 'x' is 11, 10 was bound"));
    CHECK(padlock_error_axis(error) == 0);
    x.strides[0] = 10;
    y.shape[1] = 7;
    CHECK(padlock_call_launch_tensors(call, inputs, 2, results, 2, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
    CHECK(padlock_error_message(error) == std::string("extent of axis 1 of 'y' is 7, 6 was bound"));
    CHECK(padlock_error_axis(error) == 1);
    y.shape[1] = 6;
    y.strides = {7, 1};
    y_view = y.view(y_data.data());
    CHECK(padlock_call_launch_tensors(call, inputs, 2, results, 2, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
    CHECK(padlock_error_message(error) == std::string("stride of axis 0 of 'y' is 7, 6 was bound"));
  }
}

TEST_CASE("tensors that are no tensors of the program are refused when they are bound") {
  const Context context = make_context();
  const Kernel kernel = compile(parse(context, kPadRelu), "reference");
  const auto message_of = [&](const auto& spoil) {
    PadReluSizes sizes(2, 3, 0);
    spoil(sizes);
    Call call;
    Error error;
    CHECK(padlock_kernel_bind(kernel, &sizes.options, call.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
    CHECK(call.get() == nullptr);
    return std::string(padlock_error_message(error));
  };
  CHECK(message_of([](auto& s) { s.tensor.dtype.code = kDLInt; }) == "'x' is of f32, a tensor of i32 is given");
  CHECK(message_of([](auto& s) { s.tensor.dtype = {5, 128, 2}; }) ==
        "'x' is of f32, a tensor of code 5, 128 bits, 2 lanes is given");
  CHECK(message_of([](auto& s) { s.tensor.ndim = -1; }) == "'x' has rank 2, but a tensor of rank -1 is given");
  CHECK(message_of([](auto& s) { s.tensor.ndim = 2'000'000'000; }) ==
        "'x' has rank 2, but a tensor of rank 2000000000 is given");
  CHECK(message_of([](auto& s) { s.tensor.shape = nullptr; }) == "expected the extents of 'x', found NULL");
  CHECK(message_of([](auto& s) { s.tensor.device = {kDLCUDA, 1}; }) ==
        "expected 'x' in memory of the host, found DLPack device 2:1");
  CHECK(message_of([](auto& s) { s.x.shape[1] = -3; }) == "extent of axis 1 of 'x' is -3; an extent is at least 0");
  CHECK(message_of([](auto& s) { s.options.input_count = 2; }) == "program 'pad_relu' takes 1 tensors, 2 are given");
  CHECK(message_of([](auto& s) { s.options.scalar_count = 0; }) == "program 'pad_relu' takes 1 scalars, 0 are given");
  CHECK(message_of([](auto& s) { s.options.dims = nullptr; }) == "expected 1 dims, found NULL");
  CHECK(message_of([](auto& s) { s.dims[0].name = nullptr; }) == "expected the name of a dim, found NULL");
  CHECK(message_of([](auto& s) { s.dims[0].name = "hi"; }) == "program 'pad_relu' has no symbol 'hi'");
  CHECK(message_of([](auto& s) { s.options.dim_count = 0; }) == "symbol 'lo' of program 'pad_relu' has no value");
}

}  // namespace
}  // namespace padlock::capi::testing
