#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "support/error.h"

namespace padlock {

/// Machine code in pages of its own, which may be executed and read, and are never writable at the same time.
/// Immutable, thread-safe.
class CodeMemory {
 public:
  /// Copies the code, which begins at a page. Errors: resource_exhausted where there is no memory; unavailable where
  /// the system lets no process make pages executable.
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
