#include "ir/reference/element_memo.h"

#include <algorithm>
#include <utility>

namespace padlock::ir {
namespace {

constexpr std::size_t kFirstSlots = 64;

std::uint64_t hash_of(ValueId value, std::span<const std::int64_t> coordinates) {
  std::uint64_t hash = value;
  for (const std::int64_t c : coordinates) {
    hash = (hash ^ static_cast<std::uint64_t>(c)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return (hash * 0xBF58476D1CE4E5B9) ^ (hash >> 32);
}

}  // namespace

void ElementMemo::clear() {
  ++generation_;
  used_ = 0;
  coordinates_.clear();
}

std::size_t ElementMemo::slot_of(std::uint64_t hash, ValueId value, std::span<const std::int64_t> coordinates) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash) & mask;
  for (; slots_[at].generation == generation_; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && slot.value == value &&
        std::equal(coordinates.begin(), coordinates.end(),
                   coordinates_.begin() + static_cast<std::ptrdiff_t>(slot.coordinates)))
      break;
  }
  return at;
}

std::optional<Element> ElementMemo::find(ValueId value, std::span<const std::int64_t> coordinates) const {
  if (used_ == 0) return std::nullopt;
  const Slot& slot = slots_[slot_of(hash_of(value, coordinates), value, coordinates)];
  if (slot.generation != generation_) return std::nullopt;
  return slot.element;
}

void ElementMemo::insert(ValueId value, std::span<const std::int64_t> coordinates, const Element& element) {
  if (2 * (used_ + 1) > slots_.size()) grow();
  const std::uint64_t hash = hash_of(value, coordinates);
  slots_[slot_of(hash, value, coordinates)] = {
      .generation = generation_, .hash = hash, .value = value, .coordinates = coordinates_.size(), .element = element};
  coordinates_.insert(coordinates_.end(), coordinates.begin(), coordinates.end());
  ++used_;
}

void ElementMemo::grow() {
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(std::max(kFirstSlots, 2 * slots_.size())));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.generation != generation_) continue;
    std::size_t at = static_cast<std::size_t>(slot.hash) & mask;
    while (slots_[at].generation == generation_) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace padlock::ir
