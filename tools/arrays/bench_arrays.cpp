#include "tools/arrays/bench_arrays.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tools/arrays/device_run.h"

namespace padlock::tools {
namespace {

constexpr std::int64_t kLine = 64;

/// Returns whole cache lines and one more, so that arrays of a power of two do not all share the same sets of a cache.
std::int64_t spaced(std::int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine + kLine; }

std::int64_t bytes_of(const std::vector<lib::TensorInfo>& tensors) {
  std::int64_t bytes = 0;
  for (const lib::TensorInfo& tensor : tensors) bytes += tensor.storage_bytes;
  return bytes;
}

}  // namespace

lib::Expected<ArgumentSets> ArgumentSets::create(const lib::Context& context, const lib::Call& call,
                                                 const std::vector<lib::Memory>& inputs, std::int64_t least_bytes) {
  const auto input_infos = call.inputs(), result_infos = call.results();
  const std::int64_t one = std::max<std::int64_t>(bytes_of(input_infos) + bytes_of(result_infos), 1);
  const std::int64_t wanted = (std::max<std::int64_t>(least_bytes, 0) + one - 1) / one;
  ArgumentSets sets;
  sets.count_ = static_cast<std::size_t>(std::clamp<std::int64_t>(wanted, 1, kMostSets));
  sets.sources_.resize(sets.count_);
  sets.targets_.resize(sets.count_);
  for (std::size_t i = 0; i < input_infos.size(); ++i) {
    PADLOCK_TRY(const auto places, sets.add(context, input_infos[i], "input ", &inputs[i]));
    for (std::size_t set = 0; set < sets.count_; ++set) sets.sources_[set].push_back(places[set]);
  }
  for (const lib::TensorInfo& result : result_infos) {
    PADLOCK_TRY(const auto places, sets.add(context, result, "result ", nullptr));
    for (std::size_t set = 0; set < sets.count_; ++set) sets.targets_[set].push_back(places[set]);
  }
  return sets;
}

lib::Expected<std::vector<std::byte*>> ArgumentSets::add(const lib::Context& context, const lib::TensorInfo& tensor,
                                                         const char* role, const lib::Memory* data) {
  const std::int64_t stride = spaced(tensor.storage_bytes);
  PADLOCK_TRY(auto all, context.allocate(stride * static_cast<std::int64_t>(count_), role + std::string(tensor.name)));
  std::vector<std::byte*> places;
  for (std::size_t set = 0; set < count_; ++set) {
    std::byte* const to = static_cast<std::byte*>(all.data()) + static_cast<std::size_t>(stride) * set;
    // Pages that were never written share one page of zeros, so each array is filled.
    if (data == nullptr)
      std::memset(to, 1, static_cast<std::size_t>(tensor.storage_bytes));
    else if (tensor.storage_bytes > 0)  // an empty array may have no address
      std::memcpy(to, data->data(), static_cast<std::size_t>(tensor.storage_bytes));
    places.push_back(to);
  }
  memory_.push_back(std::move(all));
  return places;
}

lib::Status ArgumentSets::launch(const lib::Call& call) {
  current_ = (current_ + 1) % count_;
  const auto& sources = sources_[current_];
  const auto& targets = targets_[current_];
  return call.launch(sources.data(), sources.size(), targets.data(), targets.size());
}

lib::Expected<PlainCopy> PlainCopy::create(const lib::Context& context, const std::string& device, std::int64_t bytes,
                                           std::int64_t least_bytes) {
  PlainCopy copy;
  copy.bytes_ = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0) / 2);
  copy.on_gpu_ = is_gpu(device);
  // One line apart, so that arrays of a power of two do not all share the same sets of a cache.
  copy.stride_ = static_cast<std::size_t>(spaced(static_cast<std::int64_t>(copy.bytes_)));
  const auto least = static_cast<std::size_t>(std::max<std::int64_t>(least_bytes, 0));
  copy.count_ = std::min(least / (2 * copy.stride_) + 1, ArgumentSets::kMostSets);
  if (copy.on_gpu_) copy.count_ = 1;
  const auto size = static_cast<std::int64_t>(copy.on_gpu_ ? copy.bytes_ : copy.stride_ * copy.count_);
  for (lib::Memory* array : {&copy.from_, &copy.to_}) {
    PADLOCK_TRY(auto made, context.allocate(size, "an array to copy", copy.on_gpu_ ? device : "host"));
    // Pages that were never written share one page of zeros, so each array is filled.
    if (!copy.on_gpu_) std::memset(made.data(), 1, static_cast<std::size_t>(size));
    *array = std::move(made);
  }
  return copy;
}

lib::Status PlainCopy::run() {
  if (on_gpu_) return to_.copy_from(from_);
  const std::size_t at = next_ * stride_;
  next_ = next_ + 1 == count_ ? 0 : next_ + 1;
  std::memcpy(static_cast<std::byte*>(to_.data()) + at, static_cast<const std::byte*>(from_.data()) + at, bytes_);
  return {};
}

}  // namespace padlock::tools
