#include "bench/argument_sets.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace padlock::bench {
namespace {

using runtime::Allocation;
using runtime::MemoryBudget;
using runtime::UserBuffer;
using session::BoundProgram;
using session::LaunchArguments;
using session::TensorInfo;

/// Rounded up to whole cache lines and one more, so that arrays of a power of two do not all fall on the same sets of a
/// cache.
std::int64_t spaced(std::int64_t bytes) {
  constexpr std::int64_t kLine = 64;
  return (bytes + kLine - 1) / kLine * kLine + kLine;
}

std::int64_t bytes_of_one_set(const BoundProgram& program) {
  std::int64_t bytes = 0;
  for (const auto* tensors : {&program.inputs(), &program.results()})
    for (const TensorInfo& tensor : *tensors) bytes += tensor.storage_bytes;
  return bytes;
}

}  // namespace

Result<ArgumentSets> ArgumentSets::create(const BoundProgram& program, std::span<const UserBuffer> inputs,
                                          std::int64_t least_bytes, MemoryBudget& memory) {
  const std::int64_t one = std::max<std::int64_t>(bytes_of_one_set(program), 1);
  const std::int64_t wanted = (std::max<std::int64_t>(least_bytes, 0) + one - 1) / one;
  const auto count = static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 1, kMostSets));
  ArgumentSets sets(program.inputs().size(), program.results().size(), count);
  for (std::size_t i = 0; i < program.inputs().size(); ++i)
    PADLOCK_CHECK(sets.add(program.inputs()[i], "input ", inputs.empty() ? nullptr : &inputs[i], memory));
  for (const TensorInfo& result : program.results()) PADLOCK_CHECK(sets.add(result, "result ", nullptr, memory));
  const std::size_t tensors = sets.inputs_ + sets.results_;
  std::vector<UserBuffer> by_set(sets.buffers_.size());
  for (std::size_t i = 0; i < by_set.size(); ++i) by_set[i % count * tensors + i / count] = sets.buffers_[i];
  sets.buffers_ = std::move(by_set);
  return sets;
}

Status ArgumentSets::add(const TensorInfo& tensor, const char* role, const UserBuffer* data, MemoryBudget& memory) {
  const std::int64_t stride = spaced(tensor.storage_bytes);
  PADLOCK_TRY(Allocation all, memory.allocate(stride * static_cast<std::int64_t>(count_), role + tensor.name));
  for (std::size_t set = 0; set < count_; ++set) {
    std::byte* const to = all.data() + static_cast<std::size_t>(stride) * set;
    // A page that was never written is one page of zeros for all.
    if (data == nullptr)
      std::memset(to, 1, static_cast<std::size_t>(tensor.storage_bytes));
    else if (tensor.storage_bytes > 0)  // an empty array may have no address
      std::memcpy(to, data->data(), static_cast<std::size_t>(tensor.storage_bytes));
    buffers_.emplace_back(static_cast<void*>(to), tensor.storage_bytes);
  }
  allocations_.push_back(std::move(all));
  return {};
}

LaunchArguments ArgumentSets::arguments(std::span<const std::uint64_t> scalars) const {
  const std::span<const UserBuffer> set = std::span(buffers_).subspan(current_ * (inputs_ + results_));
  return {.inputs = set.first(inputs_), .outputs = set.subspan(inputs_, results_), .scalars = scalars};
}

Result<PlainCopy> PlainCopy::create(std::int64_t bytes, std::int64_t least_bytes, MemoryBudget& memory) {
  PlainCopy copy;
  copy.bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0) / 2);
  copy.stride_ = static_cast<std::size_t>(spaced(static_cast<std::int64_t>(copy.bytes_)));
  const auto least = static_cast<std::size_t>(std::max<std::int64_t>(least_bytes, 0));
  copy.count_ = std::min(least / (2 * copy.stride_) + 1, ArgumentSets::kMostSets);
  for (Allocation* array : {&copy.from_, &copy.to_}) {
    PADLOCK_TRY(*array, memory.allocate(static_cast<std::int64_t>(copy.stride_ * copy.count_), "an array to copy"));
    // A page that was never written is one page of zeros for all.
    std::ranges::fill(array->span(), std::byte{1});
  }
  return copy;
}

void PlainCopy::run() {
  const std::size_t at = next_ * stride_;
  next_ = next_ + 1 == count_ ? 0 : next_ + 1;
  std::memcpy(to_.data() + at, from_.data() + at, bytes_);
}

}  // namespace padlock::bench
