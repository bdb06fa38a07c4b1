#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "support/error.h"

namespace padlock::runtime {

/// Memory for trying code, in its own address range: an access up to kInaccessibleBytes outside, on either side, faults
/// instead of reaching other memory (if `is_isolated`). Not thread-safe.
class ScratchMemory {
 public:
  static constexpr std::int64_t kInaccessibleBytes = std::int64_t{32} << 20;

  virtual ~ScratchMemory() = default;
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  /// First address, on the memory's device.
  [[nodiscard]] std::uintptr_t address() const { return address_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  /// Copy from and to the host's memory, and fill with one value. Ranges lie in [0, bytes()).
  [[nodiscard]] virtual Status write(std::int64_t offset, std::span<const std::byte> from) = 0;
  [[nodiscard]] virtual Status read(std::int64_t offset, std::span<std::byte> to) const = 0;
  [[nodiscard]] virtual Status fill(std::int64_t offset, std::byte value, std::int64_t count) = 0;
  /// On the device: copies from other memory of the same space, and repeats the first `period` bytes of a range up to
  /// its end.
  [[nodiscard]] virtual Status copy(std::int64_t offset, const ScratchMemory& from, std::int64_t from_offset,
                                    std::int64_t count) = 0;
  [[nodiscard]] Status repeat(std::int64_t offset, std::int64_t period, std::int64_t count);
  /// Returns whether the memory holds these bytes. Cheaper than reading it.
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
  /// Maps at least `bytes` > 0; inaccessible memory follows the last byte directly. Byte `aligned`, a multiple of the
  /// page size, begins a page or, in large memory, a huge page. `what` is for messages. Errors: resource_exhausted,
  /// naming `what` and the bytes.
  [[nodiscard]] virtual Result<std::unique_ptr<ScratchMemory>> map(std::int64_t bytes, std::int64_t aligned,
                                                                   const std::string& what) = 0;
  /// Returns whether the memory around is inaccessible; if not, a load outside goes unnoticed.
  [[nodiscard]] virtual bool is_isolated() const = 0;
  /// Returns the free bytes.
  [[nodiscard]] virtual Result<std::int64_t> free_bytes() const = 0;
};

}  // namespace padlock::runtime
