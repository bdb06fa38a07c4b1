#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/scratch_memory.h"
#include "support/error.h"

namespace padlock::runtime {

/// Compares a device's scratch memory where it lies, by a kernel (abi/comparison.h). What is expected is queued, and
/// whether it holds is asked once for all. Ranges lie within their memory, which has been written and stays as it is
/// until then. Not thread-safe; borrows the device.
class Comparison {
 public:
  virtual ~Comparison() = default;
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  /// Expects the bytes of another range, or one value everywhere. Errors: as a launch says.
  [[nodiscard]] Status expect_same(const ScratchMemory& actual, std::int64_t offset, const ScratchMemory& expected,
                                   std::int64_t expected_offset, std::int64_t count) {
    return expect(actual.address() + static_cast<std::uintptr_t>(offset),
                  expected.address() + static_cast<std::uintptr_t>(expected_offset), std::byte{0}, count);
  }
  [[nodiscard]] Status expect_filled(const ScratchMemory& actual, std::int64_t offset, std::byte value,
                                     std::int64_t count) {
    return expect(actual.address() + static_cast<std::uintptr_t>(offset), 0, value, count);
  }
  /// Waits, and says which byte is the first that was not as expected, counted through all ranges since this was asked
  /// last; nothing where there is none. Errors: as the driver says.
  [[nodiscard]] virtual Result<std::optional<std::int64_t>> first_difference() = 0;

 protected:
  Comparison() = default;

 private:
  /// `expected`: an address; 0: the value.
  [[nodiscard]] virtual Status expect(std::uintptr_t actual, std::uintptr_t expected, std::byte value,
                                      std::int64_t count) = 0;
};

}  // namespace padlock::runtime
