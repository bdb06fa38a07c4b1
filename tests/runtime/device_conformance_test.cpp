// One suite for every device: the promises of runtime/device.h, on the reference, the host, simt and a GPU. The fake
// driver stands for a GPU if PADLOCK_CUDA_DRIVER names it.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "runtime/scratch/scratch_launch.h"
#include "tests/allocation_count.h"
#include "tests/runtime/device_subject.h"

namespace padlock::runtime {
namespace {

constexpr const char* kPad =
    "program pad_and_relu(x: f32[R, C], v: f32, lo: dim) where 0 <= lo <= 100 {\n"
    "  y = pad(x, low = [1, lo], high = [0, 3], value = v)\n  z = relu(x)\n  return y, z\n}\n";
constexpr const char* kRelu = "program one(x: f32[N]) { y = relu(x) return y }";
constexpr std::uint64_t kSeven[] = {0x40e00000};

/// A program bound to sizes: kPad to [rows, columns].
struct Bound {
  Bound(std::int64_t rows, std::int64_t columns, std::int64_t lo)
      : program(*ir::parse_program(kPad)),
        binding(*ir::Binding::bind(
            program, {.tensors = {std::nullopt}, .symbols = {{"R", rows}, {"C", columns}, {"lo", lo}}})) {}
  [[nodiscard]] ArgumentSizes sizes() const { return *ArgumentSizes::of(binding); }

  ir::Program program;
  ir::Binding binding;
};

/// kRelu bound to a length.
struct Line {
  explicit Line(std::int64_t length)
      : program(*ir::parse_program(kRelu)),
        binding(*ir::Binding::bind(program, {.tensors = {std::nullopt}, .symbols = {{"N", length}}})) {}
  ir::Program program;
  ir::Binding binding;
};

template <class T>
T value_of(Result<T> result) {
  REQUIRE_MESSAGE(result, (result ? "" : result.error().to_string()));
  return *std::move(result);
}

template <class T>
Error error_of(Result<T> result) {
  REQUIRE_FALSE(result);
  return std::move(result).error();
}

/// Runs a test body on each device of this machine.
template <class Body>
void on_each_device(Body&& body) {
  for (const DeviceId& id : devices_here()) {
    CAPTURE(id.to_string());
    Bench bench;
    body(bench, bench.open(id));
  }
}

/// What a program computes of `x`, all results behind each other.
std::vector<std::byte> results_on(const Device& device, const LoadedProgram& loaded, const Bound& bound,
                                  const std::vector<std::byte>& x) {
  const auto launch = value_of(loaded.bind(bound.binding, bound.sizes()));
  const auto queue = value_of(device.make_queue());
  const Array input(device, x);
  const std::vector<std::byte> poison(1 << 20, std::byte{0xA5});
  std::vector<Array> outputs;
  std::vector<BufferView> views;
  for (const std::int64_t bytes : launch->sizes().output_bytes()) {
    outputs.emplace_back(device, std::vector(poison.begin(), poison.begin() + bytes));
    views.push_back(outputs.back().view());
  }
  const BufferView inputs[] = {input.view()};
  REQUIRE(launch->launch(inputs, views, kSeven, queue->stream()));
  REQUIRE(launch->synchronize(queue->stream()));
  std::vector<std::byte> all;
  for (const Array& output : outputs) {
    const std::vector<std::byte> bytes = output.bytes();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

TEST_CASE("a device is listed and opened under its name, once") {
  on_each_device([](Bench& bench, const Device& device) {
    CHECK(*DeviceId::parse(device.id().to_string()) == device.id());
    CHECK(&bench.open(device.id()) == &device);
    bool listed = false;
    for (const DeviceInfo& info : Devices::list()) listed = listed || (info.id == device.id() && info.available);
    CHECK(listed);
    CHECK_FALSE(device.facts().model.empty());
    CHECK(device.facts().gpu.has_value() != device.traits().host_memory);
    CHECK(device.traits().target.empty() != device.traits().code_kind.has_value());
  });
}

TEST_CASE("a device that there is not is an error that names it") {
  Devices devices({});
  const Error error = error_of(devices.open({DeviceKind::cuda, 99}));
  CHECK(error.code == Code::unavailable);
  CHECK(error.message.starts_with("device cuda:99 is not available: "));
  CHECK(error_of(Devices::check({DeviceKind::cuda, 99})).message == error.message);
}

TEST_CASE("code of a device's own target runs on it, that of another kind does not") {
  on_each_device([](Bench&, const Device& device) {
    const DeviceTraits& traits = device.traits();
    if (!traits.code_kind) return;
    CHECK(device.check_target(traits.target));
    const char* const other = traits.target == "host" ? "sm_90" : "host";
    const Error error = error_of(device.check_target(other));
    CHECK(error.code == Code::invalid_argument);
    CHECK(error.message == "expected a target of device " + device.id().to_string() + ", found " + other);
  });
}

TEST_CASE("memory comes back as it was written, wherever it lies") {
  on_each_device([](Bench& bench, const Device& device) {
    const Device& host = bench.open({DeviceKind::host});
    const std::vector<std::byte> data = some_bytes(1000);
    const Array array(device, data);
    CHECK(array.bytes() == data);
    const auto a = value_of(device.allocate(100, "a")), b = value_of(device.allocate(100, "b"));
    const auto there = value_of(host.allocate(100, "there"));
    std::memcpy(there->data(), data.data(), 100);
    REQUIRE(DeviceMemory::copy(*a, 10, *there, 0, 90));
    REQUIRE(DeviceMemory::copy(*b, 0, *a, 20, 80));  // within the device
    REQUIRE(DeviceMemory::copy(*there, 0, *b, 1, 79));
    CHECK(std::memcmp(there->data(), data.data() + 11, 79) == 0);
    CHECK(DeviceMemory::copy(*a, 100, *b, 100, 0));
    for (const auto& [offset, bytes] : {std::pair(1, 100), {-1, 1}, {0, -1}, {101, 0}}) {
      CHECK(error_of(DeviceMemory::copy(*a, offset, *b, 0, bytes)).code == Code::out_of_range);
      CHECK(error_of(DeviceMemory::copy(*b, 0, *a, offset, bytes)).code == Code::out_of_range);
    }
    CHECK(value_of(device.allocate(0, "nothing"))->data() == nullptr);
    CHECK(error_of(device.allocate(-1, "a hole")).message == "expected 0 bytes or more for a hole, found -1");
    CHECK(*device.free_bytes() > 0);
  });
}

TEST_CASE("a queue copies, fills, waits and tells the time") {
  on_each_device([](Bench&, const Device& device) {
    const auto queue = value_of(device.make_queue());
    const auto a = value_of(device.allocate(64, "a")), b = value_of(device.allocate(64, "b"));
    const std::vector<std::byte> data = some_bytes(64);
    REQUIRE(queue->write(a->data(), data));
    const auto took = queue->time(2, [&](std::int64_t i) {
      return i == 0 ? queue->copy(b->data(), a->data(), 64) : queue->fill(b->data(), std::byte{9}, 3);
    });
    REQUIRE(took);
    CHECK(*took >= 0);
    std::vector<std::byte> found(64);
    REQUIRE(queue->read(found, b->data()));
    CHECK(std::vector(found.begin(), found.begin() + 3) == std::vector(3, std::byte{9}));
    CHECK(std::vector(found.begin() + 3, found.end()) == std::vector(data.begin() + 3, data.end()));
    CHECK(queue->synchronize());
    CHECK(error_of(queue->time(1, [](std::int64_t) { return Status(internal_error("no")); })).message == "no");
  });
}

TEST_CASE("a program computes what the reference does, at any sizes") {
  for (const auto& [rows, columns, lo] : {std::tuple(5, 67, 4), {1, 1, 0}, {0, 8, 2}, {40, 129, 100}}) {
    CAPTURE(rows);
    CAPTURE(columns);
    const Bound bound(rows, columns, lo);
    const std::vector<std::byte> x = some_bytes(static_cast<std::size_t>(4 * rows * columns));
    std::vector<std::byte> expected;
    on_each_device([&](Bench& bench, const Device& device) {
      const auto loaded = value_of(device.load(bound.program, bench.compile(device, bound.binding)));
      const std::vector<std::byte> results = results_on(device, *loaded, bound, x);
      if (device.id().kind == DeviceKind::reference) expected = results;
      CHECK(results == expected);
      const auto contracts = loaded->contracts();
      CHECK(contracts.size() == (device.traits().code_kind ? 2 : 0));
      for (const auto& variants : contracts) CHECK(variants.front()->guards.empty());
    });
  }
}

TEST_CASE("several threads may bind and launch one program at once") {
  on_each_device([](Bench& bench, const Device& device) {
    if (bench.fake() != nullptr && !device.traits().host_memory) return;  // its twins are for one launch at a time
    const Bound bound(30, 50, 2);
    const auto loaded = value_of(device.load(bound.program, bench.compile(device, bound.binding)));
    const std::vector<std::byte> x = some_bytes(30 * 50 * 4);
    const std::vector<std::byte> expected = results_on(device, *loaded, bound, x);
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] { right += results_on(device, *loaded, bound, x) == expected ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
    CHECK(right == 4);
  });
}

TEST_CASE("arguments that do not fit are refused, and nothing is written") {
  on_each_device([](Bench& bench, const Device& device) {
    const Line line(100);
    const auto loaded = value_of(device.load(line.program, bench.compile(device, line.binding)));
    const auto launch = value_of(loaded->bind(line.binding, *ArgumentSizes::of(line.binding)));
    const std::vector<std::byte> poison(512, std::byte{0xA5});
    const Array x(device, some_bytes(512)), y(device, poison);
    const auto refusal = [&](const BufferView& in, const BufferView& out, std::size_t scalars = 0) {
      const Error error = error_of(launch->launch({&in, 1}, {&out, 1}, std::span(kSeven).first(scalars)));
      CHECK(error.code == Code::invalid_argument);
      return error.message;
    };
    CHECK(refusal(x.view(0, 116), y.view()) == "the buffer of input x has 396 bytes, 400 are needed");
    CHECK(refusal(x.view(), y.view(0, 113)) == "the buffer of result y has 399 bytes, 400 are needed");
    CHECK(refusal(x.view(), BufferView(UserBuffer(static_cast<void*>(nullptr), 400))) ==
          "the buffer of result y is null, 400 bytes are needed");
    CHECK(refusal(x.view(), x.view(64)) == "the buffers of result y and input x overlap");
    CHECK(refusal(x.view(), y.view(), 1) == "expected 0 scalars, found 1");
    const BufferView in = x.view();
    CHECK(error_of(launch->launch({&in, 1}, {}, {})).message == "expected 1 input and 1 output buffers, found 1 and 0");
    CHECK(y.bytes() == poison);
  });
}

TEST_CASE("kernels of GPUs want buffers that begin at multiples of their elements, others take any") {
  on_each_device([](Bench& bench, const Device& device) {
    const Line line(20);
    const auto loaded = value_of(device.load(line.program, bench.compile(device, line.binding)));
    const auto launch = value_of(loaded->bind(line.binding, *ArgumentSizes::of(line.binding)));
    const Array x(device, some_bytes(256)), y(device, some_bytes(256));
    const BufferView in = x.view(2), out = y.view();
    const Status launched = launch->launch({&in, 1}, {&out, 1}, {});
    const bool wants = device.id().kind == DeviceKind::simt || device.id().kind == DeviceKind::cuda;
    CHECK(launched.has_value() != wants);
    if (!launched) CHECK(launched.error().message.ends_with("a multiple of 4 is needed (f32)"));
    CHECK(launch->synchronize());
  });
}

TEST_CASE("a failed bounds check is an internal error that names the access, once") {
  on_each_device([](Bench& bench, const Device& device) {
    if (!device.traits().code_kind) return;  // the reference has no storage to leave
    const Line line(3);
    const auto loaded = value_of(device.load(line.program, bench.failing_code(device, line.program)));
    const auto launch = value_of(loaded->bind(line.binding, *ArgumentSizes::of(line.binding)));
    const Array x(device, some_bytes(12)), y(device, some_bytes(12));
    const BufferView in = x.view(), out = y.view();
    const auto run = [&]() -> Status {
      PADLOCK_CHECK(launch->launch({&in, 1}, {&out, 1}, {}));
      return launch->synchronize();
    };
    for (int turn = 0; turn < 2; ++turn) {
      const Error error = error_of(run());
      CHECK(error.code == Code::internal);
      CHECK(error.message == "kernel failing: store of y is out of bounds: offset 12, storage of 10 elements");
    }
    CHECK(launch->synchronize());
    // What writes nothing is not launched.
    const Line empty(0);
    const auto nothing_loaded = value_of(device.load(empty.program, bench.failing_code(device, empty.program)));
    const auto nothing = value_of(nothing_loaded->bind(empty.binding, *ArgumentSizes::of(empty.binding)));
    CHECK(nothing->launch({&in, 1}, {&out, 1}, {}));
    CHECK(nothing->synchronize());
  });
}

TEST_CASE("what was compiled with bounds checks finds nothing wrong") {
  on_each_device([](Bench& bench, const Device& device) {
    const Bound bound(9, 33, 5);
    const std::vector<std::byte> x = some_bytes(9 * 33 * 4);
    const auto checked = value_of(device.load(bound.program, bench.compile(device, bound.binding, true)));
    const std::vector<std::byte> results = results_on(device, *checked, bound, x);
    const auto plain = value_of(device.load(bound.program, bench.compile(device, bound.binding)));
    CHECK(results == results_on(device, *plain, bound, x));
  });
}

TEST_CASE("code of another kind, and contracts that do not fit the program, are not loaded") {
  on_each_device([](Bench& bench, const Device& device) {
    const Line line(3);
    const bool gpu = device.traits().code_kind == abi::CodeKind::ptx;
    if (device.traits().code_kind) {
      abi::CompiledCode code = bench.failing_code(device, line.program);
      code.kind = gpu ? abi::CodeKind::host_image : abi::CodeKind::ptx;
      CHECK(error_of(device.load(line.program, std::move(code))).code == Code::internal);
      code = bench.failing_code(device, line.program);
      code.kernels[0][0].abi.inputs = {line.program.results()[0]};
      CHECK(error_of(device.load(line.program, std::move(code))).message.find("names value") != std::string::npos);
    } else {
      CHECK(error_of(device.load(line.program, bench.failing_code(device, line.program))).message ==
            "expected no code: the reference runs programs as they are");
    }
  });
}

TEST_CASE("scratch memory is written, read and launched on") {
  on_each_device([](Bench& bench, const Device& device) {
    const Line line(50);
    const auto loaded = value_of(device.load(line.program, bench.compile(device, line.binding)));
    const auto launch = value_of(loaded->bind(line.binding, *ArgumentSizes::of(line.binding)));
    const auto space = value_of(device.make_scratch_space());
    const ir::Value &x = line.program.value(line.program.tensor_parameters()[0]),
                    &y = line.program.value(line.program.results()[0]);
    std::vector<ScratchBuffer> in, out;
    in.push_back(value_of(ScratchBuffer::allocate(*space, line.binding, x.layout, x.dtype, "x")));
    out.push_back(value_of(ScratchBuffer::allocate(*space, line.binding, y.layout, y.dtype, "y")));
    for (ScratchBuffer* buffer : {&in[0], &out[0]}) REQUIRE(buffer->arm(Placement::red_zones, std::byte{0xC5}));
    const std::vector<std::byte> data = some_bytes(200);
    REQUIRE(in[0].write(data));
    REQUIRE(out[0].fill(std::byte{0xA5}));
    REQUIRE(launch_on_scratch(*launch, {.inputs = in, .outputs = out, .scalars = {}}));
    REQUIRE(launch->synchronize());
    CHECK(*out[0].equals(data));  // none of these floats is negative
    CHECK(*out[0].damage() == "");
    CHECK(*space->free_bytes() > 0);
  });
}

TEST_CASE("a launch allocates nothing, but for the reference") {
  on_each_device([](Bench& bench, const Device& device) {
    if (!device.traits().code_kind || bench.fake() != nullptr) return;  // twins allocate
    const Line line(1000);
    const auto loaded = value_of(device.load(line.program, bench.compile(device, line.binding)));
    const auto launch = value_of(loaded->bind(line.binding, *ArgumentSizes::of(line.binding)));
    const Array x(device, some_bytes(4000)), y(device, some_bytes(4000));
    const BufferView in = x.view(), out = y.view();
    REQUIRE(launch->launch({&in, 1}, {&out, 1}, {}));
    const long before = testing::allocation_count();
    bool all = true;
    for (int i = 0; i < 100; ++i) all = all && launch->launch({&in, 1}, {&out, 1}, {}).has_value();
    CHECK(all);
    CHECK(testing::allocation_count() == before);
    CHECK(launch->synchronize());
  });
}

TEST_CASE("a clock that can be read runs") {
  on_each_device([](Bench&, const Device& device) {
    if (const auto clock = device.clock()) CHECK(*clock > 0);
    if (device.traits().host_memory) CHECK(device.clock().has_value());
  });
}

}  // namespace
}  // namespace padlock::runtime
