#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/scratch_memory.h"
#include "support/error.h"

namespace padlock::runtime {

/// Compares scratch memory on its device, with a kernel (abi/comparison.h). Expectations are queued, and one question
/// answers all of them. Ranges must lie within their memory, which must be written, and stay unchanged until the
/// answer. Not thread-safe; borrows the device.
class Comparison {
 public:
  virtual ~Comparison() = default;
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  /// Expects the bytes of another range, or one value everywhere. Errors: as a launch's.
  [[nodiscard]] Status expect_same(const ScratchMemory& actual, std::int64_t offset, const ScratchMemory& expected,
                                   std::int64_t expected_offset, std::int64_t count) {
    return expect(actual.address() + static_cast<std::uintptr_t>(offset),
                  expected.address() + static_cast<std::uintptr_t>(expected_offset), std::byte{0}, count);
  }
  [[nodiscard]] Status expect_filled(const ScratchMemory& actual, std::int64_t offset, std::byte value,
                                     std::int64_t count) {
    return expect(actual.address() + static_cast<std::uintptr_t>(offset), 0, value, count);
  }
  /// Waits, and returns the first unexpected byte, counted through all ranges since the last answer; nullopt if there
  /// is none. Errors: as the driver says.
  [[nodiscard]] virtual Result<std::optional<std::int64_t>> first_difference() = 0;

 protected:
  Comparison() = default;

 private:
  /// `expected`: an address; 0: use the value.
  [[nodiscard]] virtual Status expect(std::uintptr_t actual, std::uintptr_t expected, std::byte value,
                                      std::int64_t count) = 0;
};

}  // namespace padlock::runtime
