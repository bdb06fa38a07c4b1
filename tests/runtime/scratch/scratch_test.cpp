#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "ir/program.h"
#include "runtime/cuda/scratch_memory.h"
#include "runtime/device.h"
#include "runtime/host/allocation.h"
#include "runtime/host/host_scratch.h"
#include "runtime/scratch/scratch_buffer.h"
#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime {
namespace {

constexpr std::byte kRed{0xC5};

/// A strided f32 parameter: 3 rows of 5 elements, row stride 7, span 2 * 7 + 5 elements.
struct Tensor {
  ir::Program program = *ir::parse_program("program p(x: f32[A, B] strides [7, 1]) { y = relu(x) return y }");
  ir::Binding binding = *ir::Binding::bind(program, {.tensors = {std::nullopt}, .symbols = {{"A", 3}, {"B", 5}}});
  Result<ScratchBuffer> allocate(ScratchSpace& space) {
    const ir::Value& x = program.value(program.tensor_parameters()[0]);
    return ScratchBuffer::allocate(space, binding, x.layout, x.dtype, "x");
  }
};

/// Whether reading that byte kills a child process.
bool is_inaccessible(std::uintptr_t address) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGSEGV, SIG_DFL);
    static_cast<void>(*std::bit_cast<const volatile unsigned char*>(address));
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

void check_surroundings(ScratchSpace& space) {
  auto memory = *space.map(1 << 20, 4096, "m");
  const std::uintptr_t first = memory->address();
  const std::uintptr_t end = first + static_cast<std::uintptr_t>(memory->bytes());
  constexpr auto kFar = static_cast<std::uintptr_t>(ScratchMemory::kInaccessibleBytes);
  CHECK_FALSE(is_inaccessible(first));
  CHECK_FALSE(is_inaccessible(end - 1));
  for (const std::uintptr_t address : {first - 1, first - kFar, first - kFar / 2, end, end + kFar / 2, end + kFar - 1})
    CHECK(is_inaccessible(address));
}

/// What holds of scratch in any space: `poke` writes a byte at an offset from the buffer's beginning.
template <class Poke>
void check_buffer(ScratchSpace& space, const Poke& poke) {
  Tensor tensor;
  auto buffer = tensor.allocate(space);
  REQUIRE(buffer);
  CHECK(buffer->bytes() == 19 * 4);
  std::vector<std::byte> data(19 * 4), back(19 * 4);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i);
  for (const Placement placement : {Placement::red_zones, Placement::flush_end}) {
    for (const std::int64_t skew : {0, 3}) {
      REQUIRE(buffer->arm(placement, kRed, skew));
      REQUIRE(buffer->write(data));
      CHECK(*buffer->damage() == "");
      REQUIRE(buffer->read(back));
      CHECK(back == data);
      poke(*buffer, -1);
      CHECK(*buffer->damage() == "byte 1 before the beginning of x was overwritten");
    }
  }
  REQUIRE(buffer->arm(Placement::red_zones, kRed));
  poke(*buffer, -ScratchBuffer::kRedZoneBytes);
  CHECK(*buffer->damage() == "byte 65536 before the beginning of x was overwritten");
  REQUIRE(buffer->arm(Placement::red_zones, kRed));
  poke(*buffer, 19 * 4 + ScratchBuffer::kRedZoneBytes - 1);
  CHECK(*buffer->damage() == "byte 65535 past the end of x was overwritten");
  REQUIRE(buffer->arm(Placement::red_zones, kRed, ScratchBuffer::kMostSkew));
  poke(*buffer, 19 * 4 + ScratchBuffer::kRedZoneBytes - 1);
  CHECK(*buffer->damage() == "byte 65535 past the end of x was overwritten");
  REQUIRE(buffer->arm(Placement::red_zones, kRed));
  CHECK(*buffer->damage() == "");
}

/// Keeps the addresses of its mappings, for pokes.
class Remembering final : public ScratchSpace {
 public:
  explicit Remembering(ScratchSpace& space) : space_(space) {}
  Result<std::unique_ptr<ScratchMemory>> map(std::int64_t bytes, std::int64_t aligned,
                                             const std::string& what) override {
    auto memory = space_.map(bytes, aligned, what);
    if (memory) last_ = memory->get();
    return memory;
  }
  bool is_isolated() const override { return space_.is_isolated(); }
  Result<std::int64_t> free_bytes() const override { return space_.free_bytes(); }

  [[nodiscard]] std::vector<std::byte> contents() const {
    std::vector<std::byte> all(static_cast<std::size_t>(last_->bytes()));
    REQUIRE(last_->read(0, all));
    return all;
  }
  /// The buffer begins at the first byte that is not red.
  void poke(std::int64_t offset) const {
    const std::vector<std::byte> all = contents();
    const auto red = std::ranges::find_if(all, [](std::byte b) { return b != kRed; });
    REQUIRE(red != all.end());
    REQUIRE(last_->fill(red - all.begin() + offset, std::byte{1}, 1));
  }

 private:
  ScratchSpace& space_;
  ScratchMemory* last_ = nullptr;
};

void check_red_zones(ScratchSpace& space) {
  Remembering remembering(space);
  check_buffer(remembering, [&](ScratchBuffer& buffer, std::int64_t offset) {
    REQUIRE(buffer.fill(std::byte{1}));
    remembering.poke(offset);
  });
}

/// Records which bytes are copied, and where to.
class NotingQueue final : public Queue {
 public:
  struct Copy {
    std::uintptr_t to, from;
    std::int64_t bytes;
  };
  [[nodiscard]] void* stream() const override { return nullptr; }
  [[nodiscard]] Status copy(void* to, const void* from, std::int64_t bytes) override {
    copies.push_back({std::bit_cast<std::uintptr_t>(to), std::bit_cast<std::uintptr_t>(from), bytes});
    return {};
  }
  [[nodiscard]] Status fill(void*, std::byte, std::int64_t) override { return {}; }
  [[nodiscard]] Status write(void*, std::span<const std::byte>) override { return {}; }
  [[nodiscard]] Status read(std::span<std::byte>, const void*) override { return {}; }
  [[nodiscard]] Status synchronize() override { return {}; }
  [[nodiscard]] Result<std::int64_t> time(std::int64_t, const std::function<Status(std::int64_t)>&) override {
    return 0;
  }
  std::vector<Copy> copies;
};

TEST_CASE("a reader reads each byte of a tensor once, into the same few bytes") {
  HostScratchSpace space;
  Tensor tensor;
  auto buffer = tensor.allocate(space);
  REQUIRE(buffer);
  REQUIRE(buffer->arm(Placement::red_zones, kRed, 3));
  const auto sink = *space.map(4096, 0, "sink");
  NotingQueue queue;
  REQUIRE(buffer->read_into(queue, *sink));
  REQUIRE(buffer->bytes() < sink->bytes());
  REQUIRE(queue.copies.size() == 1);
  CHECK(buffer->reads_into(*sink) == 1);
  CHECK(queue.copies.front().bytes == buffer->bytes());
  CHECK(queue.copies.front().to == sink->address());
  // A larger tensor takes several, one after the other.
  ir::Program program = *ir::parse_program("program p(x: f32[A]) { y = relu(x) return y }");
  const auto binding = *ir::Binding::bind(program, {.tensors = {std::nullopt}, .symbols = {{"A", 3000}}});
  const ir::Value& x = program.value(program.tensor_parameters()[0]);
  const auto large = *ScratchBuffer::allocate(space, binding, x.layout, x.dtype, "x");
  queue.copies.clear();
  REQUIRE(large.read_into(queue, *sink));
  CHECK(queue.copies.size() == 3);
  CHECK(large.reads_into(*sink) == 3);
  std::int64_t read = 0;
  for (std::size_t i = 0; i < queue.copies.size(); ++i) {
    const NotingQueue::Copy& copy = queue.copies[i];
    CHECK(copy.to == sink->address());
    CHECK(copy.bytes <= sink->bytes());
    CHECK(copy.from == queue.copies.front().from + static_cast<std::uintptr_t>(read));
    read += copy.bytes;
  }
  CHECK(read == large.bytes());
}

TEST_CASE("host memory: inaccessible on either side, red zones show stores") {
  HostScratchSpace space;
  CHECK(space.is_isolated());
  check_surroundings(space);
  check_red_zones(space);
}

TEST_CASE("scratch memory that fills one huge page is laid in it, as an allocation is") {
  HostScratchSpace space;
  std::vector<std::unique_ptr<ScratchMemory>> kept;  // so that no two have the same addresses
  for (int i = 0; i < 4; ++i) {
    kept.push_back(*space.map(static_cast<std::int64_t>(kHugePage), 4096, "x"));
    CHECK((kept.back()->address() + 4096) % kHugePage == 0);
  }
}

TEST_CASE("where a buffer is flush, its last byte is the memory's last, but for the skew") {
  HostScratchSpace space;
  Remembering remembering(space);
  Tensor tensor;
  auto buffer = *tensor.allocate(remembering);
  for (const std::int64_t skew : {0, 2}) {
    REQUIRE(buffer.arm(Placement::flush_end, kRed, skew));
    REQUIRE(buffer.fill(std::byte{1}));
    const std::vector<std::byte> all = remembering.contents();
    CHECK(std::ranges::count(all, std::byte{1}) == 19 * 4);
    CHECK(all[all.size() - 1 - static_cast<std::size_t>(4 * skew)] == std::byte{1});
  }
}

TEST_CASE("an empty tensor has red zones, too") {
  const ir::Program program = *ir::parse_program("program p(x: f32[A]) { y = relu(x) return y }");
  const auto binding = *ir::Binding::bind(program, {.tensors = {std::nullopt}, .symbols = {{"A", 0}}});
  HostScratchSpace space;
  const ir::Value& x = program.value(program.tensor_parameters()[0]);
  auto buffer = *ScratchBuffer::allocate(space, binding, x.layout, x.dtype, "x");
  CHECK(buffer.bytes() == 0);
  CHECK(buffer.arm(Placement::flush_end, kRed));
  CHECK(*buffer.damage() == "");
}

TEST_CASE("what cannot be mapped is an error that names it") {
  HostScratchSpace space;
  const auto memory = space.map(std::int64_t{1} << 47, 4096, "input x");
  REQUIRE_FALSE(memory);
  CHECK(memory.error().code == Code::resource_exhausted);
  CHECK(memory.error().message.starts_with("input x needs 140737488355328 bytes of scratch memory: "));
}

}  // namespace

namespace cuda {
namespace {

TEST_CASE("a GPU's memory: inaccessible on either side, red zones show stores") {
  const Fake fake;
  const auto context = fake.primary();
  DeviceScratchSpace space(*Stream::create(*context));
  CHECK(space.is_isolated());
  check_surroundings(space);
  check_red_zones(space);
}

TEST_CASE("without reserved addresses a GPU's memory is an allocation, and the space says so") {
  const Fake fake;
  fake->settings.hidden_symbols = {"cuMemAddressReserve"};
  const auto context = fake.primary();
  DeviceScratchSpace space(*Stream::create(*context));
  CHECK_FALSE(space.is_isolated());
  check_red_zones(space);
}

TEST_CASE("each step of mapping may fail, and what was done before is undone") {
  const Fake fake;
  const auto context = fake.primary();
  DeviceScratchSpace space(*Stream::create(*context));
  for (const char* function :
       {"cuMemGetAllocationGranularity", "cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    CAPTURE(function);
    fake->fail({.function = function, .status = CUresult::out_of_memory});
    const Error error = error_of(space.map(1000, 0, "result y"));
    CHECK(error.code == Code::resource_exhausted);
    CHECK(error.context.back() == "result y needs 1000 bytes of scratch memory");
    CHECK(fake->live().allocations == 0);
  }
  CHECK(space.map(1000, 0, "result y"));
}

TEST_CASE("device memory that there is not is an error") {
  const Fake fake;
  fake->settings.memory_bytes = 8 << 20;
  const auto context = fake.primary();
  DeviceScratchSpace space(*Stream::create(*context));
  CHECK(*space.free_bytes() == 8 << 20);
  const auto part = space.map(5 << 20, 0, "x");
  REQUIRE(part);
  CHECK(*space.free_bytes() == 2 << 20);
  CHECK(error_of(space.map(3 << 20, 0, "y")).code == Code::resource_exhausted);
}

}  // namespace
}  // namespace cuda
}  // namespace padlock::runtime
