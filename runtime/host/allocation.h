#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/buffer.h"
#include "support/error.h"

namespace padlock::runtime {

/// Bytes of what the system may give instead of many pages: of x86-64.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Says whether memory of so many bytes is laid in huge pages: as soon as it fills one.
[[nodiscard]] constexpr bool fills_huge_page(std::size_t bytes) { return bytes >= kHugePage; }

/// Zeroed memory of its own pages, given back when it is dropped. Movable.
class Allocation {
 public:
  Allocation() = default;
  Allocation(Allocation&& other) noexcept;
  Allocation& operator=(Allocation&& other) noexcept;
  ~Allocation();

  /// Aligned to a page, and to a huge page where it is as large as one; null when empty.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] std::span<std::byte> span() const { return {data_, static_cast<std::size_t>(bytes_)}; }

 private:
  friend class MemoryBudget;
  std::byte* data_ = nullptr;  // owned, inside [mapping_, mapping_ + mapped_)
  std::int64_t bytes_ = 0;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
};

/// Makes allocations, and refuses those that the machine does not have the memory for: Linux would hand the addresses
/// out all the same, and kill the process when they are written. What was allocated from a budget counts against it,
/// since untouched pages do not show in the system's own figures. Not thread-safe.
class MemoryBudget {
 public:
  /// Returns the budget of this process: MemAvailable, and the limits of its control groups (both versions).
  [[nodiscard]] static MemoryBudget of_this_process();
  explicit MemoryBudget(std::int64_t available) : available_(available) {}

  [[nodiscard]] std::int64_t available() const { return available_; }
  /// Error: resource_exhausted, naming `what`, the bytes it needs and those there are.
  [[nodiscard]] Result<Allocation> allocate(std::int64_t bytes, const std::string& what);

 private:
  std::int64_t available_;
};

}  // namespace padlock::runtime
