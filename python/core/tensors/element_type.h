#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// Names of element types, and Python's numbers as their bits.
namespace padlock::python {

/// Returns the type of a buffer's format; 0 bits for formats that Padlock does not take, such as records and bytes in
/// foreign order.
[[nodiscard]] DLDataType type_of_format(const char* format, std::int64_t bytes);
/// Returns the type of a name in NumPy's extensions ("bfloat16", "float8_e4m3fn"); 0 bits for others.
[[nodiscard]] DLDataType bits_type_named(std::string_view name);
/// Returns "float32", the name in NumPy or ml_dtypes; empty if neither has one.
[[nodiscard]] std::string numpy_name(DLDataType type);
/// Returns "f32"; for types beyond the language for example "complex64".
[[nodiscard]] std::string readable_name(DLDataType type);

/// Returns whether programs may move its elements: whole bytes, one lane, at most 16 bytes.
[[nodiscard]] bool can_move(DLDataType type);
/// Returns the unsigned type by which elements move: of the same size, or half of it for 16 bytes.
[[nodiscard]] DLDataType carrier(DLDataType type);

/// The bits of an element; for a complex one both halves.
struct Bits {
  std::uint64_t low = 0, high = 0;
  bool operator==(const Bits&) const = default;
};
/// Converts a Python number to an element, rounded once; None is 0. Errors: InvalidArgument for a value that the type
/// does not hold.
[[nodiscard]] Bits bits_of(nanobind::handle value, DLDataType type);

}  // namespace padlock::python
