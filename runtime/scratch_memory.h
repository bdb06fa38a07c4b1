#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "support/error.h"

namespace padlock::runtime {

/// Memory for trying code on, in an address range of its own: whoever leaves it by less than kInaccessibleBytes, on
/// either side, faults instead of reaching somebody else's memory (where `is_isolated`). Not thread-safe.
class ScratchMemory {
 public:
  static constexpr std::int64_t kInaccessibleBytes = std::int64_t{32} << 20;

  virtual ~ScratchMemory() = default;
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  /// First address, of whichever device the memory is.
  [[nodiscard]] std::uintptr_t address() const { return address_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// From and to the host's memory, and one value everywhere. Ranges lie in [0, bytes()).
  [[nodiscard]] virtual Status write(std::int64_t offset, std::span<const std::byte> from) = 0;
  [[nodiscard]] virtual Status read(std::int64_t offset, std::span<std::byte> to) const = 0;
  [[nodiscard]] virtual Status fill(std::int64_t offset, std::byte value, std::int64_t count) = 0;
  /// Copies from other memory of the same space, and writes the first `period` bytes of a range again and again, up to
  /// its end, on the device.
  [[nodiscard]] virtual Status copy(std::int64_t offset, const ScratchMemory& from, std::int64_t from_offset,
                                    std::int64_t count) = 0;
  [[nodiscard]] Status repeat(std::int64_t offset, std::int64_t period, std::int64_t count);
  /// Returns whether the bytes are these. Cheaper than reading them.
  [[nodiscard]] virtual Result<bool> equals(std::int64_t offset, std::span<const std::byte> expected) const;

 protected:
  ScratchMemory() = default;
  std::uintptr_t address_ = 0;
  std::int64_t bytes_ = 0;
};

/// Maps scratch memory of the host or of a GPU. Must outlive what it maps.
class ScratchSpace {
 public:
  virtual ~ScratchSpace() = default;
  /// At least `bytes` > 0; what is inaccessible follows the last one at once. Byte `aligned`, a multiple of the page
  /// size, begins a page or, where there are enough bytes, a huge page. `what` is for messages.
  /// Errors: resource_exhausted, naming `what` and the bytes.
  [[nodiscard]] virtual Result<std::unique_ptr<ScratchMemory>> map(std::int64_t bytes, std::int64_t aligned,
                                                                   const std::string& what) = 0;
  /// Returns whether what surrounds the memory is inaccessible; where it is not, nothing finds a load outside.
  [[nodiscard]] virtual bool is_isolated() const = 0;
  /// Bytes that nobody uses.
  [[nodiscard]] virtual Result<std::int64_t> free_bytes() const = 0;
};

}  // namespace padlock::runtime
