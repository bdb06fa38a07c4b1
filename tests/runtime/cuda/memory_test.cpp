#include "runtime/cuda/memory.h"

#include <doctest/doctest.h>

#include <bit>
#include <numeric>

#include "tests/runtime/cuda/fake_fixture.h"

namespace padlock::runtime::cuda {
namespace {

std::vector<std::uint32_t> counting(std::size_t count) {
  std::vector<std::uint32_t> words(count);
  std::iota(words.begin(), words.end(), 7U);
  return words;
}

TEST_CASE("a buffer is given back when it is dropped, moved or assigned over") {
  const Fake fake;
  const auto context = fake.primary();
  {
    DeviceBuffer a = *DeviceBuffer::allocate(*context, 100, "a");
    CHECK(a.bytes() == 100);
    CHECK(a.address() % 256 == 0);
    CHECK(a.data() == std::bit_cast<void*>(a.address()));
    DeviceBuffer b = std::move(a);
    CHECK(a.address() == 0);  // NOLINT(bugprone-use-after-move)
    CHECK(fake->live().allocations == 1);
    b = *DeviceBuffer::allocate(*context, 200, "b");
    CHECK(b.bytes() == 200);
    CHECK(fake->live().allocations == 1);
  }
  CHECK(fake->live().allocations == 0);
  CHECK(fake->made().allocations == 2);
}

TEST_CASE("nothing is allocated or copied for nothing") {
  const Fake fake;
  const auto context = fake.primary();
  const Stream stream = *Stream::create(*context);
  fake->forget_calls();
  const auto buffer = DeviceBuffer::allocate(*context, 0, "x");
  REQUIRE(buffer);
  CHECK(buffer->address() == 0);
  CHECK(enqueue_copy_to_device(stream, 0, {}));
  CHECK(enqueue_copy_to_host(stream, {}, 0));
  CHECK(enqueue_copy(stream, 0, 0, 0));
  CHECK(enqueue_fill(stream, 0, std::byte{1}, 0));
  CHECK(fake->calls().empty());
  CHECK(error_of(DeviceBuffer::allocate(*context, -1, "x")).message == "x cannot have -1 bytes");
}

TEST_CASE("bytes travel to the device, within it and back") {
  const Fake fake;
  const auto context = fake.primary();
  const Stream stream = *Stream::create(*context);
  const auto words = counting(1000);
  const DeviceBuffer a = *DeviceBuffer::allocate(*context, 4000, "a");
  const DeviceBuffer b = *DeviceBuffer::allocate(*context, 4000, "b");
  REQUIRE(copy_to_device(stream, a.address(), bytes_of(words)));
  REQUIRE(enqueue_fill(stream, b.address(), std::byte{0x11}, 4000));
  REQUIRE(enqueue_copy(stream, b.address() + 400, a.address() + 400, 3600));
  std::vector<std::uint32_t> back(1000);
  REQUIRE(copy_to_host(stream, bytes_of(back), b.address()));
  for (std::size_t i = 0; i < back.size(); ++i) REQUIRE(back[i] == (i < 100 ? 0x11111111U : words[i]));
}

TEST_CASE("memory that is not there is an error with what was asked for and what there is") {
  const Fake fake;
  fake->settings.memory_bytes = 1000;
  const auto context = fake.primary();
  const DeviceBuffer half = *DeviceBuffer::allocate(*context, 600, "half");
  CHECK(*free_memory(*context) == 400);
  const Error error = error_of(DeviceBuffer::allocate(*context, 500, "result z"));
  CHECK(error.code == Code::resource_exhausted);
  CHECK(error.blame == Blame::environment);
  CHECK(error.to_string() ==
        "cuMemAlloc on cuda:0 failed: CUDA_ERROR_OUT_OF_MEMORY: as the fake driver was told\n"
        "  result z needs 500 bytes of device memory, 400 are free");
  CHECK(fake->context_stack().empty());
}

TEST_CASE("a copy beyond its buffer is refused") {
  const Fake fake;
  const auto context = fake.primary();
  const Stream stream = *Stream::create(*context);
  const DeviceBuffer a = *DeviceBuffer::allocate(*context, 64, "a");
  std::vector<std::uint32_t> words(17);
  const Error error = error_of(copy_to_host(stream, bytes_of(words), a.address()));
  CHECK(contains(error.message, "cuMemcpyDtoHAsync on cuda:0 failed: CUDA_ERROR_INVALID_VALUE"));
}

TEST_CASE("waiting is refused while a graph is captured, and the capture stays valid") {
  const Fake fake;
  const auto context = fake.primary();
  const Stream stream = *Stream::create(*context);
  const DeviceBuffer a = *DeviceBuffer::allocate(*context, 64, "a");
  fake->begin_capture(stream.handle());
  CHECK(*stream.is_capturing() == true);
  const Error error = error_of(stream.synchronize());
  CHECK(error.code == Code::failed_precondition);
  CHECK(error.message == "expected a stream that can be waited for, found one that a graph is captured from");
  CHECK(enqueue_fill(stream, a.address(), std::byte{0}, 64));
  CHECK(fake->end_capture(stream.handle()) == 1);
  CHECK(*stream.is_capturing() == false);
}

}  // namespace
}  // namespace padlock::runtime::cuda
