#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "runtime/host/allocation.h"
#include "session/compile/context.h"
#include "session/launch/arguments.h"
#include "tests/common/base_target.h"

namespace padlock::session {
namespace {

constexpr const char* kPadRelu = R"(program pad_relu(x: f32[B, S], lo: dim, v: f32)
where 1 <= B, -8 <= lo <= 8, S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = v)
  z = relu(y)
  return z
})";

/// Compiles for a device, pads on it, and compares the result with the definition.
struct PadRelu {
  explicit PadRelu(runtime::DeviceKind device, ContextOptions options = {}) : context(options) {
    auto result = context.compile(program, {.device = {device}});
    if (!result) FAIL(result.error().to_string());
    compiled.emplace(*std::move(result));
  }

  Result<BoundProgram> bind(std::int64_t rows, std::int64_t columns, std::int64_t low) const {
    return compiled->bind({.tensors = {{{.extents = {rows, columns}, .strides = {}}}}, .symbols = {{"lo", low}}});
  }

  /// The bits that differ from the definition.
  int run(std::int64_t rows, std::int64_t columns, std::int64_t low, float fill) const {
    const BoundProgram bound = *bind(rows, columns, low);
    const std::int64_t width = bound.results()[0].extents[1];
    std::vector<float> x(static_cast<std::size_t>(rows * columns)), z(static_cast<std::size_t>(rows * width), 99.0f);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(static_cast<int>(i % 11) - 5);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &fill, 4);
    const std::uint64_t scalars[] = {bits};
    const runtime::UserBuffer inputs[] = {{x.data(), static_cast<std::int64_t>(x.size() * 4)}};
    const runtime::UserBuffer outputs[] = {{z.data(), static_cast<std::int64_t>(z.size() * 4)}};
    const Status status = bound.launch({inputs, outputs, scalars});
    if (!status) FAIL(status.error().to_string());
    int wrong = 0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < width; ++column) {
        const std::int64_t source = column - low;
        const bool inside = source >= 0 && source < columns;
        const float value = inside ? x[static_cast<std::size_t>(row * columns + source)] : fill;
        if (z[static_cast<std::size_t>(row * width + column)] != (value < 0 ? 0.0f : value)) ++wrong;
      }
    return wrong;
  }

  Program program = *Program::from_text(kPadRelu);
  Context context;
  std::optional<CompiledProgram> compiled;
};

TEST_CASE("one compiled program serves every size, on the host and on the reference") {
  for (const runtime::DeviceKind device : {runtime::DeviceKind::host, runtime::DeviceKind::reference}) {
    CAPTURE(static_cast<int>(device));
    const PadRelu pad(device);
    for (const auto& [rows, columns, low] :
         {std::array{1, 0, 0}, {1, 0, 3}, {4, 10, 3}, {4, 10, -3}, {3, 17, 8}, {2, 8, -8}, {1, 1, 0}, {65, 129, 1}})
      CHECK(pad.run(rows, columns, low, 2.5f) == 0);
    CHECK(pad.context.compile_count() == (device == runtime::DeviceKind::host ? 1 : 0));
  }
}

TEST_CASE("a large output is spread over the pool, or over a caller's own loop, with the same result") {
  CHECK(PadRelu(runtime::DeviceKind::host, {.threads = 3, .parallel_for = {}}).run(512, 2049, 5, -1.0f) == 0);
  static std::int64_t indices;
  indices = 0;
  const runtime::ParallelFor own{.run =
                                     [](void*, std::int64_t count, runtime::ParallelBody body, void* state) {
                                       indices += count;
                                       for (std::int64_t i = 0; i < count; ++i) body(state, i);
                                     },
                                 .user = nullptr,
                                 .threads = 2};
  CHECK(PadRelu(runtime::DeviceKind::host, {.threads = 1, .parallel_for = own}).run(512, 2049, 5, -1.0f) == 0);
  CHECK(indices > 1);
}

TEST_CASE("launches of one bound program may run at once") {
  const PadRelu pad(runtime::DeviceKind::host, {.threads = 2, .parallel_for = {}});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 20; ++repeat) wrong += pad.run(64 + i, 1000, i, 1.0f);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("results are described as the program defines them") {
  const PadRelu pad(runtime::DeviceKind::host);
  const BoundProgram bound = *pad.bind(4, 10, 3);
  const TensorInfo& z = bound.results()[0];
  CHECK(z.name == "z");
  CHECK(z.dtype == ir::DType::f32);
  CHECK(z.extents == std::vector<std::int64_t>{4, 16});
  CHECK(z.strides == std::vector<std::int64_t>{16, 1});
  CHECK(z.storage_bytes == 256);
  CHECK(bound.inputs()[0].storage_bytes == 160);
}

TEST_CASE("sizes that break a constraint bind nothing, and the error shows the line") {
  const PadRelu pad(runtime::DeviceKind::reference);
  const auto bound = pad.bind(4, 2, -3);
  REQUIRE_FALSE(bound);
  CHECK(bound.error().code == Code::failed_precondition);
  CHECK(bound.error().where.line == 2);
  CHECK(bound.error().where.source_line == "where 1 <= B, -8 <= lo <= 8, S + lo >= 0");
}

TEST_CASE("an output that overlaps an input is refused, and nothing is written") {
  for (const runtime::DeviceKind device : {runtime::DeviceKind::host, runtime::DeviceKind::reference}) {
    const PadRelu pad(device);
    const BoundProgram bound = *pad.bind(1, 8, 0);
    std::vector<float> memory(15, -1.0f);
    const runtime::UserBuffer inputs[] = {{memory.data(), 32}};
    const runtime::UserBuffer outputs[] = {{memory.data() + 7, 32}};
    const std::uint64_t scalars[] = {0};
    const Status status = bound.launch({inputs, outputs, scalars});
    REQUIRE_FALSE(status);
    CHECK(status.error().code == Code::invalid_argument);
    CHECK(status.error().message == "the buffers of result z and input x overlap");
    CHECK(memory == std::vector<float>(15, -1.0f));
    const Status none = bound.launch({inputs, std::array{runtime::UserBuffer(memory.data(), 0)}, {}});
    CHECK(none.error().message == "the buffer of result z has 0 bytes, 32 are needed");
  }
}

TEST_CASE("scalars are counted") {
  const PadRelu pad(runtime::DeviceKind::host);
  const BoundProgram bound = *pad.bind(1, 0, 0);
  const Status status = bound.launch({std::array{runtime::UserBuffer()}, std::array{runtime::UserBuffer()}, {}});
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "expected 1 scalars, found 0");
}

/// Whatever this machine has, no driver of a GPU is found.
void hide_driver() { ::setenv("PADLOCK_CUDA_DRIVER", "libno_such_cuda.so", 1); }

TEST_CASE("options that do not exist are errors of the caller") {
  hide_driver();
  Context context;
  const Program program = *Program::from_text(kPadRelu);
  const auto code = [&](const CompileOptions& options) { return context.compile(program, options).error().code; };
  CHECK(code({.config = "vector_bytes=7"}) == Code::invalid_argument);
  CHECK(code({.config = "no_such_key=1"}) == Code::invalid_argument);
  CHECK(code({.target = "host:no-such-cpu"}) == Code::invalid_argument);
  CHECK(code({.target = "sm_90"}) == Code::invalid_argument);
  CHECK(code({.device = {runtime::DeviceKind::simt}, .target = "sm_12"}) == Code::invalid_argument);
  CHECK(code({.device = {runtime::DeviceKind::simt}, .config = "unroll=2"}) == Code::invalid_argument);
  CHECK(code({.device = {runtime::DeviceKind::cuda}}) == Code::unavailable);
  CHECK(code({.device = {runtime::DeviceKind::cuda}, .target = "sm_90"}) == Code::unavailable);
  CHECK(context.prove(program, {.device = {runtime::DeviceKind::cuda}}).error().code == Code::unavailable);
  CHECK(code({.device = {runtime::DeviceKind::reference}, .config = "unroll=2"}) == Code::invalid_argument);
  CHECK(context.compile_count() == 0);
}

TEST_CASE("code for another CPU than this one is not run") {
  Context context;
  const Program program = *Program::from_text("program p(x: f32[A]) { y = neg(x) return y }");
  const auto compiled = context.compile(program, {.target = padlock::testing::kBaseTarget});
  REQUIRE(compiled);
  const BoundProgram bound = *compiled->bind({.tensors = {{{.extents = {1}, .strides = {}}}}, .symbols = {}});
  float x = 1, y = 2;
  const Status status =
      bound.launch({std::array{runtime::UserBuffer(&x, 4)}, std::array{runtime::UserBuffer(&y, 4)}, {}});
  REQUIRE_FALSE(status);
  CHECK(status.error().message == fmt::format("expected a program made for this machine, found one made for {}",
                                              std::string_view(padlock::testing::kBaseTarget).substr(5)));
  CHECK(y == 2);
}

TEST_CASE("a forced config is used, other keys as in the default") {
  Context context;
  const Program program = *Program::from_text(kPadRelu);
  const auto compiled = context.compile(program, {.config = "vector_bytes=16,unroll=1"});
  REQUIRE(compiled);
  CHECK(compiled->config().find("vector_bytes=16,unroll=1") != std::string::npos);
  CHECK(compiled->kernels().size() == 1);
  // The binder is the program's, for everything compiled from it.
  CHECK(&compiled->program().binder() == &program.binder());
}

TEST_CASE("each stage prints, and a stage of another target does not") {
  Context context;
  const Program program = *Program::from_text(kPadRelu);
  CHECK(context.emit(program, Stage::ir)->starts_with("program pad_relu("));
  CHECK(context.emit(program, Stage::kernel)->find("relu") != std::string::npos);
  CHECK(context.emit(program, Stage::schedule)->starts_with("schedule pad_relu_0: "));
  CHECK(context.emit(program, Stage::llvm)->find("define") != std::string::npos);
  CHECK_FALSE(context.emit(program, Stage::assembly)->empty());
  const auto ptx = context.emit(program, Stage::ptx);
  REQUIRE_FALSE(ptx);
  CHECK(ptx.error().message == "stage ptx is of GPU targets; target host has ir, kernel, schedule, llvm and asm");
}

TEST_CASE("the language leaves a NaN open only where it says so") {
  Context context;
  const Program program = *Program::from_text("program p(x: f32[2]) { y = add(x, x)  z = relu(x)  return y, z }");
  const BoundProgram bound = *context.compile(program, {.device = {runtime::DeviceKind::reference}})
                                  ->bind({.tensors = {{{.extents = {2}, .strides = {}}}}, .symbols = {}});
  const std::uint32_t x[] = {0x7fc00001, 0x3f800000};
  const runtime::UserBuffer inputs[] = {{static_cast<const void*>(x), 8}};
  const LaunchArguments arguments{inputs, {}, {}};
  CHECK(*bound.nan_is_open(0, std::array<std::int64_t, 1>{0}, arguments));
  CHECK_FALSE(*bound.nan_is_open(0, std::array<std::int64_t, 1>{1}, arguments));
  CHECK_FALSE(*bound.nan_is_open(1, std::array<std::int64_t, 1>{0}, arguments));
}

TEST_CASE("devices are named as they are read, and what is missing says what was looked for") {
  for (const char* name : {"host", "reference", "simt", "cuda:0", "cuda:17"})
    CHECK(runtime::DeviceId::parse(name)->to_string() == name);
  for (const char* name : {"", "gpu", "cuda", "cuda:", "cuda:-1", "cuda:1x", "cuda:99999999999"}) {
    CAPTURE(name);
    const auto device = runtime::DeviceId::parse(name);
    REQUIRE_FALSE(device);
    CHECK(device.error().message.starts_with("expected a device (host, reference, simt, cuda:0, ...), found '"));
  }
  hide_driver();
  CHECK(runtime::Devices::check({runtime::DeviceKind::host}));
  const Status cuda = runtime::Devices::check({runtime::DeviceKind::cuda, 3});
  REQUIRE_FALSE(cuda);
  CHECK(cuda.error().code == Code::unavailable);
  const std::string looked_for = "is not available: no CUDA driver: looked for libno_such_cuda.so among the loaded";
  CHECK(cuda.error().message.starts_with("device cuda:3 " + looked_for));
  REQUIRE(runtime::Devices::list().size() == 4);
  CHECK(runtime::Devices::list()[3].description.starts_with("device cuda:0 " + looked_for));
}

TEST_CASE("a file that cannot be read is named") {
  const auto program = Program::load("/no/such/file.pad");
  REQUIRE_FALSE(program);
  CHECK(program.error().message == "cannot read /no/such/file.pad: No such file or directory");
  CHECK(Program::load("/dev/zero").error().message == "cannot read /dev/zero: not a regular file");
}

}  // namespace
}  // namespace padlock::session
