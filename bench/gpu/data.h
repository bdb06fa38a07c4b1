#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/gpu/problem.h"
#include "runtime/device.h"

namespace padlock::bench::gpu {

/// Byte that an output is filled with before a check: no element that relu leaves, of any type.
inline constexpr std::byte kPoison{0xA5};

/// The contents of arrays: elements of both signs that repeat with a prime period, so that each byte of a result of
/// any size is known without computing it. Of one element type.
class Data {
 public:
  explicit Data(ir::DType dtype);

  /// Elements [0, count) of the sequence, packed.
  [[nodiscard]] std::vector<std::byte> elements(std::int64_t count) const;
  /// Writes the sequence over `bytes` bytes of device memory, from its first element on.
  [[nodiscard]] Status write_all(runtime::Queue& queue, std::byte* to, std::int64_t bytes) const;

  /// Compares the whole output of a problem, whose input begins at element `first` of the sequence, with its closed
  /// form. Empty, or which element differs and how. Errors: the device's.
  [[nodiscard]] Result<std::string> check_output(runtime::Queue& queue, const Problem& problem, std::int64_t first,
                                                 const std::byte* output) const;
  /// Compares the closed form with the language's interpreter, on the problem made small; an error where they differ.
  [[nodiscard]] Status check_closed_form(const Problem& large) const;

 private:
  [[nodiscard]] std::vector<std::byte> expected_row(const Problem& problem, std::int64_t first, std::int64_t row) const;
  void append(std::vector<std::byte>& row, const Problem& problem, std::optional<std::int64_t> element) const;
  [[nodiscard]] std::string compare_rows(const Problem& problem, std::int64_t first, std::int64_t first_row,
                                         std::span<const std::byte> rows) const;

  std::size_t element_bytes_;
  std::vector<std::byte> sequence_;   // a period and a longest row
  std::vector<std::byte> rectified_;  // its relu, as long
  std::vector<std::byte> fill_;       // one element
};

}  // namespace padlock::bench::gpu
