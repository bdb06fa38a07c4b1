#include "bench/times/capi_times.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "padlock/padlock.h"
#include "support/sized.h"

namespace padlock::bench {
namespace {

constexpr std::string_view kProgram =
    "program pad_relu(x: f32[B, S], lo: dim) where B >= 1, -8 <= lo <= 8, S + lo >= 0\n"
    "{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5) z = relu(y) return z }";
constexpr std::int64_t kExtent = 16;

/// Handles, and the data of one launch. Each step ends the process where it fails, so that no check is timed.
class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    padlock_call_release(call_);
    padlock_kernel_release(kernel_);
    padlock_program_release(program_);
    padlock_context_release(context_);
  }

  Status begin() {
    auto options = sized<padlock_context_options>();
    options.threads = 1;
    if (padlock_context_create(&options, &context_, nullptr) != PADLOCK_OK ||
        padlock_program_parse(context_, kProgram.data(), kProgram.size(), &program_, nullptr) != PADLOCK_OK ||
        padlock_program_compile(program_, &compile_, &kernel_, nullptr) != PADLOCK_OK ||
        padlock_kernel_bind(kernel_, &sizes_, &call_, nullptr) != PADLOCK_OK)
      return internal_error("expected a call of the C API's benchmark");
    return {};
  }
  void copy() { std::memcpy(z_.data(), x_.data(), sizeof x_); }
  void launch() { expect(padlock_call_launch(call_, from_, 1, to_, 1, nullptr, nullptr)); }
  void bind() {
    padlock_call* call = nullptr;
    expect(padlock_kernel_bind(kernel_, &sizes_, &call, nullptr));
    padlock_call_release(call);
  }
  void bind_sizes() {
    padlock_call* call = nullptr;
    expect(padlock_program_bind(program_, &sizes_, &call, nullptr));
    padlock_call_release(call);
  }
  void look_up() {
    padlock_kernel* kernel = nullptr;
    expect(padlock_program_compile(program_, &compile_, &kernel, nullptr));
    padlock_kernel_release(kernel);
  }

 private:
  static void expect(padlock_status status) {
    if (status != PADLOCK_OK) std::abort();
  }
  [[nodiscard]] DLTensor describe_input() {
    return {.data = x_.data(),
            .device = {.device_type = kDLCPU, .device_id = 0},
            .ndim = 2,
            .dtype = {.code = kDLFloat, .bits = 32, .lanes = 1},
            .shape = shape_,
            .strides = nullptr,
            .byte_offset = 0};
  }

  alignas(64) std::array<float, kExtent * kExtent> x_ = {}, z_ = {};
  std::int64_t shape_[2] = {kExtent, kExtent};
  DLTensor tensor_ = describe_input();
  const DLTensor* inputs_[1] = {&tensor_};
  padlock_named_value dims_[1] = {{"lo", 0}};
  padlock_bind_options sizes_ = {.struct_size = sizeof(padlock_bind_options),
                                 .inputs = inputs_,
                                 .input_count = 1,
                                 .dims = dims_,
                                 .dim_count = 1,
                                 .scalars = nullptr,
                                 .scalar_count = 0,
                                 .unplaced = {},
                                 .reserved = {}};
  padlock_compile_options compile_ = sized<padlock_compile_options>();
  const void* from_[1] = {x_.data()};
  void* to_[1] = {z_.data()};
  padlock_context* context_ = nullptr;
  padlock_program* program_ = nullptr;
  padlock_kernel* kernel_ = nullptr;
  padlock_call* call_ = nullptr;
};

}  // namespace

Result<Comparison> capi_times(const TimingOptions& options) {
  Session session;
  PADLOCK_CHECK(session.begin());
  return compare("C API, pad and relu of 16x16 f32", 0,
                 {{"memcpy", [&] { session.copy(); }},
                  {"launch", [&] { session.launch(); }},
                  {"bind", [&] { session.bind(); }},
                  {"bind for sizes alone", [&] { session.bind_sizes(); }},
                  {"look-up of a kernel", [&] { session.look_up(); }}},
                 options);
}

}  // namespace padlock::bench
