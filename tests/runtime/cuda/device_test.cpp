// The CUDA layer on any driver: a GPU's, or the fake one that PADLOCK_CUDA_DRIVER names. Without a driver each case
// prints that it is skipped, and why.

#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>

#include "runtime/cuda/devices.h"
#include "runtime/cuda/event.h"
#include "runtime/cuda/launch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/scratch_memory.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

/// The first device. If there is none, `ready` is false and a message says so.
class Machine {
 public:
  Machine() {
    prepare_fake();
    auto driver = Driver::find();
    if (!driver) {
      // A driver that is here and does not work is a failure, not a skip.
      REQUIRE_MESSAGE(driver.error().code == Code::unavailable, driver.error().to_string());
      MESSAGE("skipped: ", driver.error().message);
      return;
    }
    auto made = Context::retain_primary(*driver, 0);
    REQUIRE_MESSAGE(made, made.error().to_string());
    context = *std::move(made);
  }

  [[nodiscard]] bool ready() const { return context != nullptr; }

  FakeDriver* fake = nullptr;  // borrowed from its library; null for a GPU's driver
  std::unique_ptr<const Context> context;

 private:
  void prepare_fake() {
    const char* const file = std::getenv(Driver::kFileVariable);
    fake = file == nullptr ? nullptr : FakeDriver::of(file);
    if (fake == nullptr) return;
    fake->reset();
    fake->register_twin("add", add_twin, nullptr);
  }
};

/// The kernel `add` and buffers for it.
struct Problem {
  explicit Problem(const Context& context, std::size_t count = 100000)
      : stream(*Stream::create(context)),
        module(*Module::load_ptx(context, kPtx, "add")),
        add(*module.function("add")),
        words(count),
        input(*DeviceBuffer::allocate(context, static_cast<std::int64_t>(count * 4), "input")),
        result(*DeviceBuffer::allocate(context, static_cast<std::int64_t>(count * 4), "result")) {
    std::iota(words.begin(), words.end(), 1U);
    REQUIRE(copy_to_device(stream, input.address(), bytes_of(words)));
    REQUIRE(enqueue_fill(stream, result.address(), std::byte{0}, result.bytes()));
  }

  [[nodiscard]] Status run(std::uint64_t addend) const {
    const std::uint64_t parameters[] = {result.address(), input.address(), words.size(), addend};
    const auto blocks = static_cast<unsigned>((words.size() + 127) / 128);
    return launch(add, {.grid_x = blocks, .block_x = 128}, parameters, stream);
  }
  [[nodiscard]] bool has_added(std::uint32_t addend) const {
    std::vector<std::uint32_t> back(words.size());
    REQUIRE(copy_to_host(stream, bytes_of(back), result.address()));
    for (std::size_t i = 0; i < back.size(); ++i)
      if (back[i] != words[i] + addend) return false;
    return true;
  }

  Stream stream;
  Module module;
  Function add;
  std::vector<std::uint32_t> words;
  DeviceBuffer input, result;
};

/// Captures the work of a stream as a graph, through functions that the layer itself does not need.
class Capture {
 public:
  Capture(const Machine& machine, const Stream& stream) : machine_(machine), stream_(stream.handle()) {
    if (machine_.fake != nullptr) {
      machine_.fake->begin_capture(stream_);
    } else {
      constexpr unsigned kGlobal = 0;  // CU_STREAM_CAPTURE_MODE_GLOBAL, the strictest
      CHECK(call<CUstream, unsigned>("cuStreamBeginCapture", 10010, stream_, kGlobal) == CUresult::success);
    }
  }
  /// Ends the capture and runs the graph; returns false if the capture was invalidated.
  [[nodiscard]] bool end_and_run() const {
    if (machine_.fake != nullptr) {
      const bool valid = machine_.fake->end_capture(stream_) >= 0;
      if (valid) machine_.fake->replay(stream_);
      return valid;
    }
    void* graph = nullptr;
    void* executable = nullptr;
    if (call<CUstream, void**>("cuStreamEndCapture", 10000, stream_, &graph) != CUresult::success) return false;
    CHECK(call<void**, void*, std::uint64_t>("cuGraphInstantiateWithFlags", 11040, &executable, graph, 0) ==
          CUresult::success);
    CHECK(call<void*, CUstream>("cuGraphLaunch", 10000, executable, stream_) == CUresult::success);
    const Status done = Stream::borrow(*machine_.context, stream_).synchronize();
    CHECK(call<void*>("cuGraphExecDestroy", 10000, executable) == CUresult::success);
    CHECK(call<void*>("cuGraphDestroy", 10000, graph) == CUresult::success);
    return done.has_value();
  }

 private:
  template <class... Parameters>
  CUresult call(const char* symbol, int version, Parameters... arguments) const {
    void* address = nullptr;
    auto found = CUdriverProcAddressQueryResult::symbol_not_found;
    const Driver& driver = machine_.context->driver();
    REQUIRE(driver.cuGetProcAddress_v2.address(symbol, &address, version, kProcAddressLegacyStream, &found) ==
            CUresult::success);
    return reinterpret_cast<CUresult (*)(Parameters...)>(address)(arguments...);
  }

  const Machine& machine_;  // borrowed (outlives this)
  CUstream stream_;
};

TEST_CASE("the devices are as one would think") {
  const Machine machine;
  if (!machine.ready()) return;
  const auto devices = list_devices(machine.context->driver());
  REQUIRE(devices);
  for (const GpuFacts& facts : *devices) {
    MESSAGE(facts.name, ", ", facts.architecture(), ", ", facts.multiprocessors, " SMs, L2 ", facts.l2_bytes,
            " bytes, ", facts.memory_bytes, " bytes at ", facts.memory_bandwidth, " bytes/s, CUDA ",
            facts.driver_version);
    CHECK_FALSE(facts.name.empty());
    CHECK(facts.compute_major >= 5);
    CHECK(facts.multiprocessors > 0);
    CHECK(facts.max_grid_x == 2147483647);
    CHECK(facts.max_block_threads == 1024);
    CHECK(facts.max_shared_bytes >= 48 << 10);
    CHECK(facts.memory_bytes > 0);
  }
}

TEST_CASE("a kernel runs and its result comes back, on an own stream and on the default one") {
  const Machine machine;
  if (!machine.ready()) return;
  Problem problem(*machine.context);
  REQUIRE(problem.run(7));
  CHECK(problem.has_added(7));
  REQUIRE(problem.stream.synchronize());
  problem.stream = Stream::borrow(*machine.context, nullptr);
  REQUIRE(problem.run(8));
  CHECK(problem.has_added(8));
  const FunctionFacts facts = *function_facts(problem.add);
  CHECK(facts.registers > 0);
  CHECK(facts.local_bytes == 0);
  CHECK(**free_memory(*machine.context) > 0);
}

TEST_CASE("events measure a launch") {
  const Machine machine;
  if (!machine.ready()) return;
  const Problem problem(*machine.context);
  const Event start = *Event::create(*machine.context);
  const Event end = *Event::create(*machine.context);
  REQUIRE(start.record(problem.stream));
  REQUIRE(problem.run(1));
  REQUIRE(end.record(problem.stream));
  REQUIRE(end.synchronize());
  CHECK(*end.milliseconds_since(start) > 0.0F);
}

TEST_CASE("the first launch is legal while a graph is captured, and the graph does the same work") {
  const Machine machine;
  if (!machine.ready()) return;
  const Problem problem(*machine.context);
  REQUIRE(problem.stream.synchronize());
  const auto scope = ContextScope::enter(*machine.context);
  const Capture capture(machine, problem.stream);
  REQUIRE(problem.run(9));
  CHECK(*problem.stream.is_capturing() == true);
  CHECK(error_of(problem.stream.synchronize()).code == Code::failed_precondition);
  REQUIRE(capture.end_and_run());
  CHECK(problem.has_added(9));
}

/// `store_late` lets the work after it begin, then stores a value a millisecond later; `copy_after` waits for the work
/// before it, then copies a value; `copy_at_once` does not wait.
std::string dependent_ptx() {
  const std::string copy =
      "(.param .u64 to, .param .u64 from)\n{ .reg .b64 %to, %from; .reg .b32 %value;\n"
      "ld.param.u64 %to, [to]; ld.param.u64 %from, [from]; WAIT\n"
      "ld.volatile.global.u32 %value, [%from]; st.global.u32 [%to], %value; ret; }\n";
  std::string after = copy;
  std::string at_once = copy;
  after.replace(after.find("WAIT"), 4, "griddepcontrol.wait;");
  at_once.erase(at_once.find("WAIT"), 4);
  return ".version 7.8\n.target sm_90\n.address_size 64\n"
         ".visible .entry store_late(.param .u64 to, .param .u64 value)\n"
         "{ .reg .b64 %to; .reg .b32 %value, %i; .reg .pred %more;\n"
         "griddepcontrol.launch_dependents; ld.param.u64 %to, [to]; ld.param.u32 %value, [value]; mov.u32 %i, 0;\n"
         "again: nanosleep.u32 1000; add.u32 %i, %i, 1; setp.lt.u32 %more, %i, 1000; @%more bra again;\n"
         "st.global.u32 [%to], %value; ret; }\n"
         ".visible .entry copy_after" +
         after + ".visible .entry copy_at_once" + at_once;
}

TEST_CASE("a kernel that waits reads what the work before it writes, one that does not is too early") {
  const Machine machine;
  if (!machine.ready()) return;
  const std::vector<GpuFacts> devices = *list_devices(machine.context->driver());
  if (machine.fake != nullptr || devices[0].compute_major < 9 || !machine.context->driver().cuLaunchKernelEx) {
    MESSAGE("skipped: expected a GPU of sm_90 or later and a driver that has cuLaunchKernelEx");
    return;
  }
  const Stream stream = *Stream::create(*machine.context);
  const Module module = *Module::load_ptx(*machine.context, dependent_ptx(), "dependent");
  const Function store_late = *module.function("store_late");
  const DeviceBuffer words = *DeviceBuffer::allocate(*machine.context, 8, "words");
  const auto copied_by = [&](const char* name, std::uint32_t value) {
    const Function copy = *module.function(name);
    REQUIRE(enqueue_fill(stream, words.address(), std::byte{0}, words.bytes()));
    REQUIRE(stream.synchronize());
    const std::uint64_t to_store[] = {words.address(), value};
    const std::uint64_t to_copy[] = {words.address() + 4, words.address()};
    REQUIRE(launch(store_late, {.grid_x = 1, .block_x = 1}, to_store, stream));
    REQUIRE(launch(copy, {.grid_x = 1, .block_x = 1, .waits = true}, to_copy, stream));
    std::vector<std::uint32_t> back(2);
    REQUIRE(copy_to_host(stream, bytes_of(back), words.address()));
    CHECK(back[0] == value);
    return back[1];
  };
  for (std::uint32_t value = 1; value <= 20; ++value) {
    CHECK(copied_by("copy_after", value) == value);
    CHECK(copied_by("copy_at_once", value) == 0);  // else the case above shows nothing
  }
}

TEST_CASE("errors are those that the fake driver plays") {
  const Machine machine;
  if (!machine.ready()) return;
  const std::string open_list = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry broken(\n{ ret; }\n";
  const Error ptx = error_of(Module::load_ptx(*machine.context, open_list, "broken"));
  CHECK(ptx.code == Code::internal);
  CHECK(contains(ptx.message, "cuModuleLoadDataEx on cuda:0 failed: CUDA_ERROR_INVALID_PTX"));
  CHECK(ptx.context.size() == 2);  // with a log
  const Problem problem(*machine.context);
  CHECK(error_of(problem.module.function("no_such")).code == Code::not_found);
  const Error memory = error_of(DeviceBuffer::allocate(*machine.context, std::int64_t{1} << 46, "x"));
  CHECK(memory.code == Code::resource_exhausted);
  CHECK(contains(memory.context.back(), "x needs 70368744177664 bytes of device memory, "));
  const Error shape = error_of(launch(problem.add, {.grid_x = 1, .block_x = 4096}, {}, problem.stream));
  CHECK(contains(shape.message, "cuLaunchKernel of add on cuda:0 failed: CUDA_ERROR_INVALID_VALUE"));
  CHECK(problem.stream.synchronize());
}

TEST_CASE("scratch memory is reached by copies, what surrounds it is not") {
  const Machine machine;
  if (!machine.ready()) return;
  DeviceScratchSpace space(*Stream::create(*machine.context));
  REQUIRE(space.is_isolated());
  const auto scratch = *space.map(3 << 20, 0, "scratch");
  REQUIRE(scratch->bytes() >= 3 << 20);
  REQUIRE(scratch->fill(0, std::byte{7}, scratch->bytes()));
  CHECK(*scratch->equals(0, std::vector<std::byte>(static_cast<std::size_t>(scratch->bytes()), std::byte{7})));
  REQUIRE(scratch->fill(scratch->bytes() - 1, std::byte{8}, 1));
  CHECK_FALSE(*scratch->equals(0, std::vector<std::byte>(static_cast<std::size_t>(scratch->bytes()), std::byte{7})));
  std::vector<std::byte> back(2);
  REQUIRE(scratch->read(scratch->bytes() - 2, back));
  CHECK(back == std::vector{std::byte{7}, std::byte{8}});
  constexpr std::int64_t kFar = ScratchMemory::kInaccessibleBytes;
  for (const std::int64_t offset : {-kFar, std::int64_t{-2}, scratch->bytes(), scratch->bytes() + kFar - 2}) {
    const Status read = scratch->read(offset, back);
    REQUIRE_FALSE(read);
    CHECK_FALSE(is_device_lost(read.error()));
  }
  CHECK(scratch->read(0, back));
}

// The last one: a GPU's process cannot use the device after it.
TEST_CASE("a kernel that leaves its memory is a lost device, for good") {
  const Machine machine;
  if (!machine.ready()) return;
  {
    const Problem problem(*machine.context);
    // The input ends flush with scratch memory: one element more is out of range.
    DeviceScratchSpace space(Stream::borrow(*machine.context, problem.stream.handle()));
    const auto scratch = *space.map(1 << 16, 0, "scratch");
    constexpr std::uint64_t kCount = 100;
    const auto end = scratch->address() + static_cast<std::uint64_t>(scratch->bytes());
    const auto launch_add = [&](std::uint64_t count) {
      const std::uint64_t parameters[] = {problem.result.address(), end - 4 * kCount, count, 1};
      return launch(problem.add, {.grid_x = 1, .block_x = 128}, parameters, problem.stream);
    };
    REQUIRE(launch_add(kCount));
    REQUIRE(problem.stream.synchronize("add"));
    REQUIRE(launch_add(kCount + 1));
    const Error error = error_of(problem.stream.synchronize("add"));
    CHECK(is_device_lost(error));
    CHECK(contains(error.message, " of add on cuda:0 failed: CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK(is_device_lost(error_of(problem.stream.synchronize("add"))));
    CHECK(is_device_lost(error_of(DeviceBuffer::allocate(*machine.context, 64, "x"))));
  }
  CUcontext current = nullptr;
  CHECK(machine.context->call(machine.context->driver().cuCtxGetCurrent, &current));
  CHECK(current == nullptr);
}

}  // namespace
}  // namespace padlock::runtime::cuda
