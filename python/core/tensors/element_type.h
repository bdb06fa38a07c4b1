#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// Element types by their several names, and Python's numbers as their bits.
namespace padlock::python {

/// By a buffer's format; 0 bits for what no tensor of ours holds, such as records and bytes in foreign order.
[[nodiscard]] DLDataType type_of_format(const char* format, std::int64_t bytes);
/// By the names of NumPy's extensions ("bfloat16", "float8_e4m3fn"); 0 bits for others.
[[nodiscard]] DLDataType bits_type_named(std::string_view name);
/// "float32", as NumPy and ml_dtypes call it; empty where neither does.
[[nodiscard]] std::string numpy_name(DLDataType type);
/// "f32" or, beyond the language, "complex64".
[[nodiscard]] std::string readable_name(DLDataType type);

/// Returns whether programs may move its elements: whole bytes, one lane, at most 16 bytes.
[[nodiscard]] bool can_move(DLDataType type);
/// The unsigned type of the same size by which elements move; of 16 bytes, of half the size.
[[nodiscard]] DLDataType carrier(DLDataType type);

/// The bits of an element; of complex ones both halves.
struct Bits {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Bits&) const = default;
};
/// Converts a number of Python to an element, rounded once; None is 0. Errors: InvalidArgument for a value that the
/// type does not hold.
[[nodiscard]] Bits bits_of(nanobind::handle value, DLDataType type);

}  // namespace padlock::python
