#include "python/core/call_cache.h"

#include <algorithm>
#include <utility>

namespace padlock::python {

std::shared_ptr<BoundCall> describe(Call call) {
  auto bound = std::make_shared<BoundCall>();
  for (const TensorInfo& input : call.inputs()) bound->bytes += input.storage_bytes;
  for (TensorInfo& result : call.results()) {
    bound->bytes += result.storage_bytes;
    if (result.storage_bytes >= ResultMemory::kLeastBytes) bound->large_bytes += result.storage_bytes;
    bound->results.push_back({std::move(result.extents), result.type, result.storage_bytes, {}, {}});
  }
  bound->call = std::move(call);
  return bound;
}

void CallKey::add(const DLTensor& tensor) {
  add(tensor.ndim | std::int64_t{tensor.dtype.code} << 8 | std::int64_t{tensor.dtype.bits} << 16 |
      std::int64_t{tensor.dtype.lanes} << 24 | std::int64_t{tensor.device.device_type} << 40 |
      std::int64_t{tensor.device.device_id} << 48);
  for (int axis = 0; axis < tensor.ndim; ++axis) add(tensor.shape[axis]);
  if (tensor.strides == nullptr) return add(-1);
  add(1);
  for (int axis = 0; axis < tensor.ndim; ++axis) add(tensor.strides[axis]);
}

std::uint64_t CallKey::hash() const {
  std::uint64_t mixed = 0x9e3779b97f4a7c15;
  for (const std::int64_t word : words_) {
    mixed = (mixed ^ static_cast<std::uint64_t>(word)) * 0xff51afd7ed558ccd;
    mixed ^= mixed >> 32;
  }
  return mixed;
}

std::shared_ptr<BoundCall> CallCache::find(const CallKey& key) {
  if (!entries_.empty() && std::ranges::equal(entries_.front().words, key.words())) return entries_.front().call;
  const auto found = by_hash_.find(key.hash());
  if (found == by_hash_.end() || !std::ranges::equal(found->second->words, key.words())) return nullptr;
  if (found->second != entries_.begin()) entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->call;
}

void CallCache::put(const CallKey& key, std::shared_ptr<BoundCall> call) {
  const std::uint64_t hash = key.hash();
  if (const auto old = by_hash_.find(hash); old != by_hash_.end()) {
    entries_.erase(old->second);
    by_hash_.erase(old);
  }
  if (entries_.size() >= most_) {
    by_hash_.erase(entries_.back().hash);
    entries_.pop_back();
  }
  entries_.push_front({hash, {key.words().begin(), key.words().end()}, std::move(call)});
  by_hash_.emplace(hash, entries_.begin());
}

}  // namespace padlock::python
