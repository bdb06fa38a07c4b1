#pragma once

#include <cstddef>
#include <cstdint>

namespace padlock::runtime::cuda {

/// Host memory in the role of a device's, between inaccessible pages. Plain data: the owner unmaps it.
struct FakeMemory {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::byte* mapping = nullptr;  // with the inaccessible pages
  std::size_t mapped = 0;

  /// `guard`: inaccessible bytes on each side, a multiple of the page size; may be 0. data is null if the system has no
  /// room.
  static FakeMemory map(std::size_t bytes, std::size_t guard, bool flush_end, std::size_t alignment);
  void unmap() const;

  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t count) const {
    const auto begin = reinterpret_cast<std::uint64_t>(data);
    return address >= begin && count <= bytes && address - begin <= bytes - count;
  }
};

/// Runs body(state) and returns whether it finished. If it touches an inaccessible page, it stops there without
/// destructors, and the result is false. Other faults go to the previous handler.
bool run_trapping_faults(void (*body)(void* state), void* state);

}  // namespace padlock::runtime::cuda
