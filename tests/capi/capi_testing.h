#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "padlock/padlock.h"
#include "support/sized.h"

// Shared by tests of the C API: owners of handles, tensors, and a program with one call of it.
namespace padlock::capi::testing {

/// Owns one reference.
template <class T, void (*kRelease)(T*)>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { kRelease(handle_); }
  [[nodiscard]] T* get() const { return handle_; }
  operator T*() const { return handle_; }  // NOLINT(google-explicit-constructor): as C has it
  /// Releases its handle, and returns the place for a new one.
  [[nodiscard]] T** out() {
    kRelease(std::exchange(handle_, nullptr));
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};

using Error = Handle<padlock_error, padlock_error_release>;
using Text = Handle<padlock_text, padlock_text_release>;
using Context = Handle<padlock_context, padlock_context_release>;
using Program = Handle<padlock_program, padlock_program_release>;
using Kernel = Handle<padlock_kernel, padlock_kernel_release>;
using Call = Handle<padlock_call, padlock_call_release>;
using Tuner = Handle<padlock_tuner, padlock_tuner_release>;
using Cache = Handle<padlock_cache, padlock_cache_release>;
using Pack = Handle<padlock_pack, padlock_pack_release>;
using Devices = Handle<padlock_devices, padlock_devices_release>;

inline constexpr const char* kPadRelu = R"(program pad_relu(x: f32[B, S], lo: dim, v: f32)
where 1 <= B, -8 <= lo <= 8, S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = v)
  z = relu(y)
  return z
})";

/// Fails the test with the error's text.
#define REQUIRE_OK(status, error)                                       \
  do {                                                                  \
    const padlock_status required = (status);                           \
    REQUIRE_MESSAGE(required == PADLOCK_OK, padlock_error_text(error)); \
  } while (false)

[[nodiscard]] inline Program parse(padlock_context* context, const std::string& text) {
  Program program;
  Error error;
  REQUIRE_OK(padlock_program_parse(context, text.data(), text.size(), program.out(), error.out()), error);
  return program;
}

[[nodiscard]] inline Context make_context(const padlock_context_options* options = nullptr) {
  Context context;
  Error error;
  REQUIRE_OK(padlock_context_create(options, context.out(), error.out()), error);
  return context;
}

[[nodiscard]] inline Kernel compile(padlock_program* program, const char* device = "host") {
  padlock_compile_options options = sized<padlock_compile_options>();
  options.device = device;
  Kernel kernel;
  Error error;
  REQUIRE_OK(padlock_program_compile(program, &options, kernel.out(), error.out()), error);
  return kernel;
}

/// The description of an f32 tensor; its data are elsewhere.
struct Tensor {
  explicit Tensor(std::vector<std::int64_t> extents, std::vector<std::int64_t> steps = {})
      : shape(std::move(extents)), strides(std::move(steps)) {}
  [[nodiscard]] DLTensor view(const void* data = nullptr) {
    return {.data = const_cast<void*>(data),
            .device = {.device_type = kDLCPU, .device_id = 0},
            .ndim = static_cast<std::int32_t>(shape.size()),
            .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1},
            .shape = shape.data(),
            .strides = strides.empty() ? nullptr : strides.data(),
            .byte_offset = 0};
  }

  std::vector<std::int64_t> shape, strides;
};

/// The bind options of pad_relu.
class PadReluSizes {
 public:
  PadReluSizes(std::int64_t rows, std::int64_t columns, std::int64_t low, float fill = 2.5f)
      : x({rows, columns}), tensor(x.view()), inputs{&tensor}, dims{{"lo", low}} {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &fill, sizeof bits);
    scalars[0] = bits;
    options.inputs = inputs;
    options.input_count = 1;
    options.dims = dims;
    options.dim_count = 1;
    options.scalars = scalars;
    options.scalar_count = 1;
  }
  PadReluSizes(const PadReluSizes&) = delete;
  PadReluSizes& operator=(const PadReluSizes&) = delete;

  Tensor x;
  DLTensor tensor;
  const DLTensor* inputs[1];
  padlock_named_value dims[1];
  std::uint64_t scalars[1];
  padlock_bind_options options = sized<padlock_bind_options>();
};

[[nodiscard]] inline Call bind(padlock_kernel* kernel, const PadReluSizes& sizes) {
  Call call;
  Error error;
  REQUIRE_OK(padlock_kernel_bind(kernel, &sizes.options, call.out(), error.out()), error);
  return call;
}

[[nodiscard]] inline padlock_tensor_info result_of(const padlock_call* call, std::size_t index = 0) {
  padlock_tensor_info info = sized<padlock_tensor_info>();
  Error error;
  REQUIRE_OK(padlock_call_result(call, index, &info, error.out()), error);
  return info;
}

/// Returns x[i] of every test.
[[nodiscard]] inline float element(std::int64_t i) { return static_cast<float>(i % 11 - 5); }

/// Counts the elements of z that differ from pad_relu's result for x = element(i), dense.
[[nodiscard]] inline int wrong_elements(const float* z, std::int64_t rows, std::int64_t columns, std::int64_t low,
                                        float fill = 2.5f) {
  const std::int64_t width = columns + low + (8 - (columns + low) % 8) % 8;
  int wrong = 0;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < width; ++column) {
      const std::int64_t source = column - low;
      const float value = source >= 0 && source < columns ? element(row * columns + source) : fill;
      if (z[row * width + column] != (value < 0 ? 0.0f : value)) ++wrong;
    }
  return wrong;
}

}  // namespace padlock::capi::testing
