#include "api/plain_copy.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "api/argument_sets.h"
#include "api/compiled_state.h"
#include "runtime/cuda/memory.h"

namespace padlock::api {

struct PlainCopy::State {
  std::size_t bytes = 0;   // of one copy
  std::size_t stride = 0;  // between arrays
  std::size_t count = 1;
  std::size_t next = 0;
  Allocation from = {}, to = {};
  // On a GPU, instead of these:
  std::optional<runtime::cuda::Stream> stream = {};
  runtime::cuda::DeviceBuffer device_from = {}, device_to = {};

  Status make_on_host(std::int64_t least_bytes, MemoryBudget& memory) {
    // A line apart, so that arrays of a power of two do not all fall on the same sets of a cache.
    constexpr std::size_t kLine = 64;
    stride = (bytes + 2 * kLine - 1) / kLine * kLine;
    const auto least = static_cast<std::size_t>(std::max<std::int64_t>(least_bytes, 0));
    count = std::min(least / (2 * stride) + 1, ArgumentSets::kMostSets);
    for (Allocation* array : {&from, &to}) {
      PADLOCK_TRY(*array, memory.allocate(static_cast<std::int64_t>(stride * count), "an array to copy"));
      // A page that was never written is one page of zeros for all.
      std::ranges::fill(array->span(), std::byte{1});
    }
    return {};
  }
  Status make_on_gpu(const runtime::cuda::Context& context) {
    const auto size = static_cast<std::int64_t>(bytes);
    PADLOCK_TRY(stream, runtime::cuda::Stream::create(context));
    for (runtime::cuda::DeviceBuffer* array : {&device_from, &device_to}) {
      PADLOCK_TRY(*array, runtime::cuda::DeviceBuffer::allocate(context, size, "an array to copy"));
      PADLOCK_CHECK(runtime::cuda::enqueue_fill(*stream, array->address(), std::byte{1}, size));
    }
    return stream->synchronize();
  }
};

PlainCopy::PlainCopy(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlainCopy::PlainCopy(PlainCopy&& other) noexcept = default;
PlainCopy& PlainCopy::operator=(PlainCopy&& other) noexcept = default;
PlainCopy::~PlainCopy() = default;

Result<PlainCopy> PlainCopy::create(const BoundProgram& program, std::int64_t bytes, std::int64_t least_bytes,
                                    MemoryBudget& memory) {
  PlainCopy copy(std::make_unique<State>());
  copy.state_->bytes = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0) / 2);
  const auto& loaded = program.state_->compiled->loaded;
  PADLOCK_CHECK(loaded ? copy.state_->make_on_gpu(loaded->context()) : copy.state_->make_on_host(least_bytes, memory));
  return copy;
}

Status PlainCopy::run() {
  State& state = *state_;
  if (state.stream) {
    PADLOCK_CHECK(runtime::cuda::enqueue_copy(*state.stream, state.device_to.address(), state.device_from.address(),
                                              static_cast<std::int64_t>(state.bytes)));
    return state.stream->synchronize();
  }
  const std::size_t at = state.next * state.stride;
  state.next = state.next + 1 == state.count ? 0 : state.next + 1;
  std::memcpy(state.to.data() + at, state.from.data() + at, state.bytes);
  return {};
}

}  // namespace padlock::api
