#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "support/error.h"

namespace padlock {

/// Machine code in pages of its own, executable and readable but never writable at the same time. Immutable,
/// thread-safe.
class CodeMemory {
 public:
  /// Copies the code to the beginning of a page. Errors: resource_exhausted without memory; unavailable if the system
  /// forbids executable pages.
  [[nodiscard]] static Result<std::shared_ptr<const CodeMemory>> map(std::span<const std::byte> code);
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  [[nodiscard]] const std::byte* data() const { return static_cast<const std::byte*>(pages_); }

 private:
  CodeMemory() = default;
  void* pages_ = nullptr;  // owned; null for no code
  std::size_t bytes_ = 0;
};

}  // namespace padlock
