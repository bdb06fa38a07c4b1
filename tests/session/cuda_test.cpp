// Programs on a GPU, by the fake driver: their launches, the launches' cost, and that results are the reference's.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <thread>

#include "runtime/cuda/memory.h"
#include "tests/allocation_count.h"
#include "tests/common/host_arrays.h"
#include "tests/session/cuda_twins.h"

namespace padlock::session {
namespace {

using runtime::cuda::DeviceBuffer;
using runtime::cuda::Stream;
using testing::allocation_count;
using Calls = std::vector<std::string>;

constexpr const char* kPadRelu = R"(program pad_relu(x: f32[B, S], lo: dim, v: f32)
where 1 <= B, -8 <= lo <= 8, S + lo >= 0
{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = v) z = relu(y) return z })";

/// Two kernels, since the results have other extents.
constexpr const char* kTwoKernels =
    R"(program two(x: i16[A, B], b: bool[A, B], k: dim, v: i16) where 0 <= k <= 4, A >= 5, B >= 5
{ y = pad(x, low = [k, 0], high = [0, k], mode = reflect) z = select(b, x, v) t = transpose(z, perm = [1, 0])
  return y, t })";

constexpr const char* kConcat = R"(program cat(x: u8[A, B, C], y: u8[A, D, C], k: dim) where A >= 1, B + D >= 1, C >= 1
{ z = concat(x, y, axis = 1) w = pad(z, low = [0, k, -1], high = [1, 0, k], mode = wrap) return w })";

ir::BindRequest request(std::vector<std::vector<std::int64_t>> shapes, std::map<std::string, std::int64_t> symbols) {
  ir::BindRequest made;
  for (auto& extents : shapes) made.tensors.push_back(ir::ArgumentShape{.extents = std::move(extents), .strides = {}});
  made.symbols = std::move(symbols);
  return made;
}

/// A bound program's arrays in device memory, and a stream of its context.
struct OnDevice {
  explicit OnDevice(const BoundProgram& bound)
      : arrays(bound),
        context(*runtime::cuda::Context::retain_primary(*runtime::cuda::Driver::find(), 0)),
        stream(*Stream::create(*context)) {
    for (const auto& bytes : arrays.memory) inputs.push_back(copy(bytes));
    for (const auto& bytes : arrays.results) outputs.push_back(copy(bytes));
  }

  [[nodiscard]] LaunchArguments arguments() const { return {inputs, outputs, arrays.scalars, stream.handle()}; }
  [[nodiscard]] std::vector<std::vector<std::byte>> results() const {
    std::vector<std::vector<std::byte>> all = arrays.results;
    for (std::size_t i = 0; i < all.size(); ++i)
      REQUIRE(runtime::cuda::copy_to_host(stream, all[i], buffers[inputs.size() + i].address()));
    return all;
  }

  Arrays arrays;
  std::unique_ptr<const runtime::cuda::Context> context;
  Stream stream;
  std::vector<DeviceBuffer> buffers;
  std::vector<runtime::UserBuffer> inputs, outputs;

 private:
  runtime::UserBuffer copy(const std::vector<std::byte>& bytes) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    buffers.push_back(*DeviceBuffer::allocate(*context, size, "a buffer"));
    REQUIRE(runtime::cuda::copy_to_device(stream, buffers.back().address(), bytes));
    return {buffers.back().data(), size};
  }
};

TEST_CASE("results are the reference's, for every kind of config") {
  const FakeGpu fake;
  struct Program {
    const char* text;
    std::vector<ir::BindRequest> sizes;
  };
  const Program programs[] = {
      {kPadRelu, {request({{3, 37}}, {{"lo", 3}}), request({{1, 8}}, {{"lo", -7}}), request({{2, 2051}}, {{"lo", 0}})}},
      {kTwoKernels, {request({{5, 67}, {5, 67}}, {{"k", 4}}), request({{129, 5}, {129, 5}}, {{"k", 0}})}},
      {kConcat, {request({{2, 3, 33}, {2, 0, 33}}, {{"k", 2}}), request({{1, 2, 300}, {1, 5, 300}}, {{"k", -1}})}},
  };
  int runs = 0;
  for (const Program& program : programs)
    for (const char* config : {"", "map=vector_grid,items=4,cache=evict_first", "map=vector_grid,threads=512",
                               "map=vector_grid,items=1,split=0"})
      for (const bool bounds_check : {false, true}) {
        CAPTURE(program.text);
        CAPTURE(config);
        CAPTURE(bounds_check);
        Context context;
        TwinProgram twins(fake, context, program.text, {.config = config, .bounds_check = bounds_check});
        for (const ir::BindRequest& sizes : program.sizes) {
          const BoundProgram bound = twins.bind(sizes);
          const Arrays arrays(bound);
          const Status status = padlock::testing::run_on_host_arrays(bound, arrays.arguments());
          REQUIRE_MESSAGE(status, (status ? "" : status.error().to_string()));
          CHECK(twins.take_launches().size() == twins.compiled().kernels().size());
          CHECK(arrays.results == reference_results(twins.compiled().program(), sizes, arrays));
          ++runs;
        }
      }
  CHECK(fake->launches() > runs);
  CHECK(runs == 56);
}

TEST_CASE("a program's key on a GPU names what its speed depends on") {
  const FakeGpu fake;
  Context context;
  const auto program = session::Program::from_text(kPadRelu);
  REQUIRE(program);
  const auto key = context.cache_key(*program, {.device = {runtime::DeviceKind::cuda}});
  REQUIRE(key);
  const tuner::KeyFields& fields = key->fields();
  CHECK(fields.target == "sm_90");
  CHECK(fields.architecture == "sm_90");
  CHECK(fields.cpu.empty());
  CHECK(fields.threads.empty());
  CHECK(fields.multiprocessors == "132");
  CHECK(fields.bandwidth == "3400 GB/s");
}

TEST_CASE("a grid has a block for each tile, and no more than the device launches") {
  const auto launched = [](const char* config, std::int64_t rows, std::int64_t columns) {
    const FakeGpu fake;
    Context context;
    TwinProgram twins(fake, context, kPadRelu, {.config = config});
    const BoundProgram bound = twins.bind(request({{rows, columns}}, {{"lo", 0}}));
    const Arrays arrays(bound);
    CHECK(padlock::testing::run_on_host_arrays(bound, arrays.arguments()));
    const auto launches = twins.take_launches();
    REQUIRE(launches.size() == 1);
    return std::array{launches[0].grid_x, launches[0].block_x};
  };
  // Ten vectors a row, and one more for an output that does not begin at a vector's multiple.
  CHECK(launched("threads=128", 12, 40) == std::array{1U, 128U});
  CHECK(launched("threads=128", 13, 40) == std::array{2U, 128U});
  CHECK(launched("threads=512", 400, 40) == std::array{8U, 512U});

  FakeGpu fake;
  fake->settings.max_grid_x = 2;
  Context context;
  TwinProgram twins(fake, context, kPadRelu, {.config = "threads=128"});
  CHECK(twins.compiled().bind(request({{25, 40}}, {{"lo", 0}})).has_value());
  const auto refused = twins.compiled().bind(request({{26, 40}}, {{"lo", 0}}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::resource_exhausted);
  CHECK(refused.error().message.find("has 3 blocks of these sizes, cuda:0 launches at most 2") != std::string::npos);
}

TEST_CASE("few vectors are taken one a thread, by code of its own; more by the code for several") {
  const FakeGpu fake;
  Context context;
  TwinProgram twins(fake, context, "program bytes(x: i8[n]) { y = relu(x) return y }");
  std::map<std::string, unsigned> blocks;  // of the last launch of each
  const auto record = [](void* seen, const std::uint64_t*, std::size_t, unsigned grid_x, unsigned) {
    *static_cast<unsigned*>(seen) = grid_x;
  };
  for (const char* const name : {"bytes_0_index32", "bytes_0_one_vector"})
    fake->register_twin(name, record, &blocks[name]);
  const auto launch = [&](std::int64_t bytes) {
    const BoundProgram bound = twins.bind(request({{bytes}}, {}));
    const runtime::UserBuffer x(reinterpret_cast<void*>(0x1'0000'0000), bytes);  // NOLINT(performance-no-int-to-ptr)
    const runtime::UserBuffer y(reinterpret_cast<void*>(0x2'0000'0000), bytes);  // NOLINT(performance-no-int-to-ptr)
    CHECK(bound.launch({{&x, 1}, {&y, 1}, {}}));
  };
  constexpr std::int64_t kMost = 24 << 20;
  // 256 threads a block, 16 bytes a vector, and one vector more for an output that does not begin at one's multiple.
  launch(1 << 20);
  CHECK(blocks == std::map<std::string, unsigned>{{"bytes_0_index32", 0}, {"bytes_0_one_vector", 257}});
  launch(kMost);
  CHECK(blocks == std::map<std::string, unsigned>{{"bytes_0_index32", 0}, {"bytes_0_one_vector", 6145}});
  launch(kMost + 1);
  CHECK(blocks == std::map<std::string, unsigned>{{"bytes_0_index32", 3073}, {"bytes_0_one_vector", 6145}});
}

TEST_CASE("binding makes no driver call where its code is loaded; a launch makes one a kernel, and allocates nothing") {
  const FakeGpu fake;
  Context context;
  TwinProgram twins(fake, context, kTwoKernels);
  (void)twins.bind(request({{5, 8}, {5, 8}}, {{"k", 2}}));
  fake->forget_calls();
  const BoundProgram bound = twins.bind(request({{5, 7}, {5, 7}}, {{"k", 2}}));
  CHECK(fake->calls().empty());

  const OnDevice device(bound);
  const LaunchArguments arguments = device.arguments();
  // What twins allocate is not the launch's.
  for (const char* const name : {"two_0_by_element", "two_1_narrow_output"})
    fake->register_twin(name, [](void*, const std::uint64_t*, std::size_t, unsigned, unsigned) {}, nullptr);
  fake->forget_calls();
  const long before = allocation_count();
  const Status status = bound.launch(arguments);
  const long after = allocation_count();
  REQUIRE(status);
  CHECK(after == before);
  CHECK(fake->calls() ==
        Calls{"cuCtxGetCurrent", "cuCtxPushCurrent_v2", "cuLaunchKernelEx", "cuLaunchKernelEx", "cuCtxPopCurrent_v2"});
  const auto scope = runtime::cuda::ContextScope::enter(*device.context);
  fake->forget_calls();
  REQUIRE(bound.launch(arguments));
  CHECK(fake->calls() == Calls{"cuCtxGetCurrent", "cuLaunchKernelEx", "cuLaunchKernelEx"});
}

TEST_CASE("an empty output is not launched") {
  const FakeGpu fake;
  Context context;
  TwinProgram twins(fake, context, kPadRelu);
  const BoundProgram bound = twins.bind(request({{4, 0}}, {{"lo", 0}}));
  fake->forget_calls();
  CHECK(bound.launch(
      {std::array{runtime::UserBuffer()}, std::array{runtime::UserBuffer()}, std::array<std::uint64_t, 1>{}}));
  CHECK(std::ranges::count(fake->calls(), "cuLaunchKernelEx") == 0);
  const Arrays arrays(bound);
  CHECK(padlock::testing::run_on_host_arrays(bound, arrays.arguments()));
  CHECK(fake->launches() == 0);
}

TEST_CASE("a launch is legal while a graph is captured, waiting is not, and the graph does the same work") {
  const FakeGpu fake;
  Context context;
  TwinProgram twins(fake, context, kTwoKernels);
  const ir::BindRequest sizes = request({{5, 9}, {5, 9}}, {{"k", 1}});
  const BoundProgram bound = twins.bind(sizes);
  const OnDevice device(bound);
  fake->begin_capture(device.stream.handle());
  CHECK(bound.launch(device.arguments()));
  const Status waited = bound.synchronize(device.stream.handle());
  REQUIRE_FALSE(waited);
  CHECK(waited.error().code == Code::failed_precondition);
  CHECK(fake->launches() == 0);
  CHECK(fake->end_capture(device.stream.handle()) == 2);
  CHECK(device.results() == device.arrays.results);
  fake->replay(device.stream.handle());
  CHECK(bound.synchronize(device.stream.handle()));
  CHECK(twins.take_launches().size() == 2);
  CHECK(device.results() == reference_results(twins.compiled().program(), sizes, device.arrays));
}

TEST_CASE("a kernel may be compiled, bound and launched while a graph is captured") {
  const FakeGpu fake;
  Context context;
  TwinProgram other(fake, context, kTwoKernels);
  const BoundProgram made_before = other.bind(request({{5, 9}, {5, 9}}, {{"k", 1}}));
  const OnDevice stream_of(made_before);
  const auto stream = stream_of.stream.handle();
  fake->begin_capture(stream);
  const auto kernel = context.compile(*Program::from_text(kPadRelu), {.device = {runtime::DeviceKind::cuda}});
  REQUIRE(kernel);
  CHECK(kernel->bind(request({{64, 64}}, {{"lo", 0}})));
  CHECK(made_before.launch(stream_of.arguments()));
  CHECK(fake->end_capture(stream) == 2);
}

TEST_CASE("launches of several threads on one bound program") {
  const FakeGpu fake;
  Context context;
  TwinProgram twins(fake, context, kPadRelu);
  const ir::BindRequest sizes = request({{2, 100}}, {{"lo", 4}});
  const BoundProgram bound = twins.bind(sizes);
  std::vector<std::unique_ptr<OnDevice>> places;
  for (int i = 0; i < 3; ++i) places.push_back(std::make_unique<OnDevice>(bound));
  std::vector<std::thread> threads;
  std::array<int, 3> failures{};
  for (std::size_t t = 0; t < places.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) failures[t] += bound.launch(places[t]->arguments()) ? 0 : 1;
      failures[t] += bound.synchronize(places[t]->stream.handle()) ? 0 : 1;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == std::array{0, 0, 0});
  CHECK(twins.take_launches().size() == 150);
  for (const auto& place : places)
    CHECK(place->results() == reference_results(twins.compiled().program(), sizes, place->arrays));
}

TEST_CASE("arrays keep their alignment on the way to the device, as far as their type allows") {
  const FakeGpu fake;
  Context context;
  TwinProgram twins(fake, context, kPadRelu);
  const BoundProgram bound = twins.bind(request({{1, 16}}, {{"lo", 0}}));
  std::array<std::byte, 128> memory{};
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  std::byte* const base = memory.data() + (16 - start % 16) % 16;
  struct Seen {
    std::uint64_t input = 0, output = 0;
  } seen;
  fake->register_twin(
      "pad_relu_0_one_vector",
      [](void* user, const std::uint64_t* words, std::size_t, unsigned, unsigned) {
        *static_cast<Seen*>(user) = {words[1] % 16, words[2] % 16};
      },
      &seen);
  alignas(16) std::array<std::byte, 80> output{};
  const std::uint64_t scalar = 0;
  for (const std::size_t shift : {0, 3, 4, 13}) {
    CAPTURE(shift);
    const runtime::UserBuffer input(base + shift, 64);
    const runtime::UserBuffer result(output.data() + 8, 64);
    REQUIRE(padlock::testing::run_on_host_arrays(bound, {{&input, 1}, {&result, 1}, {&scalar, 1}}));
    CHECK(seen.input == shift / 4 * 4);
    CHECK(seen.output == 8);
  }
}

TEST_CASE("the target is the newest known of the device's generation") {
  const auto target = [](int major, int minor) -> std::string {
    const FakeGpu fake;
    fake->settings.compute_major = major;
    fake->settings.compute_minor = minor;
    Context context;
    const auto compiled = context.compile(*Program::from_text(kPadRelu), {.device = {runtime::DeviceKind::cuda}});
    return compiled ? compiled->target() : compiled.error().message;
  };
  CHECK(target(7, 5) == "sm_75");
  CHECK(target(8, 8) == "sm_87");
  CHECK(target(9, 0) == "sm_90");
  CHECK(target(10, 3) == "sm_100");
  CHECK(target(12, 1) == "sm_120");
  const char* const known = "code can be made for sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_120";
  CHECK(target(7, 0) == std::string("device cuda:0 is not available: Fake GPU is of sm_70, ") + known);
  CHECK(target(11, 0) == std::string("device cuda:0 is not available: Fake GPU is of sm_110, ") + known);

  const FakeGpu fake;
  Context context;
  const Program program = *Program::from_text(kPadRelu);
  CHECK(context.compile(program, {.device = {runtime::DeviceKind::cuda}, .target = "sm_80"})->target() == "sm_80");
  const auto newer = context.compile(program, {.device = {runtime::DeviceKind::cuda}, .target = "sm_100"});
  REQUIRE_FALSE(newer);
  CHECK(newer.error().code == Code::invalid_argument);
  CHECK(newer.error().message == "expected a target that device cuda:0 (sm_90) runs, found sm_100");
  CHECK(context.compile(program, {.device = {runtime::DeviceKind::cuda}, .target = "host:x86-64"}).error().message ==
        "expected a target of device cuda:0, found host:x86-64");
}

TEST_CASE("a variant's code is loaded with the first binding that takes it") {
  const FakeGpu fake;
  Context context;
  const Program program = *Program::from_text(kPadRelu);
  const auto kernel = *context.compile(program, {.device = {runtime::DeviceKind::cuda}});
  const auto bound = [&](std::int64_t rows, std::int64_t columns) {
    CHECK(kernel.bind(request({{rows, columns}}, {{"lo", 0}})));
    return fake->live().modules;
  };
  CHECK(fake->live().modules == 0);
  CHECK(bound(64, 64) == 1);
  CHECK(bound(64, 68) == 1);
  CHECK(bound(64, 65) == 2);  // rows that end within vectors
  CHECK(bound(std::int64_t{1} << 20, 1 << 10) == 3);
  CHECK(bound(std::int64_t{1} << 22, 1 << 10) == 3);  // in several launches, of offsets of 32 bits
  CHECK(bound(4, std::int64_t{1} << 32) == 4);        // a row that has more
  CHECK(bound(64, 64) == 4);
}

TEST_CASE("the context is retained once, and given back with the api's") {
  FakeGpu fake;
  const std::vector stack = {fake.make_callers_context()};
  {
    Context context;
    TwinProgram one(fake, context, kPadRelu);
    TwinProgram two(fake, context, kTwoKernels);
    CHECK(fake->live().contexts == 1);
    CHECK(fake->live().modules == 0);
    CHECK(fake->live().allocations == 2);
    CHECK(fake->live().streams == 0);
    CHECK(context.compile_count() == 3);
    CHECK(fake->context_stack() == stack);
  }
  CHECK(fake->made().contexts == 1);
}

}  // namespace
}  // namespace padlock::session
