#pragma once

#include <cstdint>
#include <optional>

#include "ir/binding/binding.h"
#include "ir/dtype.h"
#include "ir/program.h"
#include "padlock/padlock.h"
#include "support/error.h"

// A caller's DLTensor. Only its pointers are trusted: each points to `ndim` numbers.
namespace padlock::capi {

[[nodiscard]] DLDataType dl_type(ir::DType dtype);
/// The other way; none for what no program has.
[[nodiscard]] std::optional<ir::DType> dtype_of(const DLDataType& type);

/// The memory that a tensor may lie in.
struct Place {
  enum class Kind { anywhere, host, gpu } kind = Kind::anywhere;
  int ordinal = 0;  // of a GPU
};

/// Extents and strides of a tensor that is given for `value`. Errors (invalid_argument) name it: another type, rank or
/// place, no extents.
[[nodiscard]] Result<ir::ArgumentShape> shape_of(const DLTensor& tensor, const ir::Value& value, const Place& place);

/// The address of the first element; null where there are no data.
[[nodiscard]] inline void* address_of(const DLTensor& tensor) {
  if (tensor.data == nullptr) return nullptr;
  // In integers: an offset is the caller's, and nobody has said what it leads to.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset);
}

}  // namespace padlock::capi
