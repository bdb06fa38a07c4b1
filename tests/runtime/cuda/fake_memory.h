#pragma once

#include <cstddef>
#include <cstdint>

namespace padlock::runtime::cuda {

/// Host memory that plays a device's, between inaccessible pages. Plain data: whoever maps it unmaps it.
struct FakeMemory {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::byte* mapping = nullptr;  // with the inaccessible pages
  std::size_t mapped = 0;

  /// `guard`: inaccessible bytes on each side, a multiple of the page size; may be 0. data is null where the system
  /// has no room.
  static FakeMemory map(std::size_t bytes, std::size_t guard, bool flush_end, std::size_t alignment);
  void unmap() const;

  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t count) const {
    const auto begin = reinterpret_cast<std::uint64_t>(data);
    return address >= begin && count <= bytes && address - begin <= bytes - count;
  }
};

/// Runs body(state) and says whether it came to its end: false, if it touched an inaccessible page, whereupon it is
/// left as it stands (no destructors run). Faults of another kind go to whoever had the signal before.
bool run_trapping_faults(void (*body)(void* state), void* state);

}  // namespace padlock::runtime::cuda
