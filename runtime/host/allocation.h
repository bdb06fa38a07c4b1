#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/buffer.h"
#include "support/error.h"

namespace padlock::runtime {

/// Bytes of a huge page of x86-64, and of AArch64 with pages of 4 KiB.
inline constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// Returns whether memory of so many bytes uses huge pages: if it fills at least one.
[[nodiscard]] constexpr bool fills_huge_page(std::size_t bytes) { return bytes >= kHugePage; }

/// Zeroed memory in its own pages, freed on drop. Movable.
class Allocation {
 public:
  Allocation() = default;
  Allocation(Allocation&& other) noexcept;
  Allocation& operator=(Allocation&& other) noexcept;
  ~Allocation();

  /// Aligned to a page, or to a huge page if at least that large; null when empty.
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

/// Makes allocations, and refuses those that exceed the machine's memory: Linux would return addresses anyway, and kill
/// the process when they are written. Earlier allocations count against the budget, since untouched pages do not show
/// in the system's own figures. Not thread-safe.
class MemoryBudget {
 public:
  /// Returns the budget of this process: MemAvailable, and the limits of its control groups (both versions).
  [[nodiscard]] static MemoryBudget of_this_process();
  explicit MemoryBudget(std::int64_t available) : available_(available) {}

  [[nodiscard]] std::int64_t available() const { return available_; }
  /// Error: resource_exhausted, naming `what`, its bytes and the available bytes.
  [[nodiscard]] Result<Allocation> allocate(std::int64_t bytes, const std::string& what);

 private:
  std::int64_t available_;
};

}  // namespace padlock::runtime
