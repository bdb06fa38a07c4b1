#pragma once

#include <cstdint>
#include <optional>

#include "ir/binding/binding.h"
#include "ir/dtype.h"
#include "ir/program.h"
#include "padlock/padlock.h"
#include "support/error.h"

// A caller's DLTensor. Its pointers are trusted: each points to `ndim` numbers. Nothing else is.
namespace padlock::capi {

[[nodiscard]] DLDataType dl_type(ir::DType dtype);
/// Returns the language's type; nullopt for a type that programs do not have.
[[nodiscard]] std::optional<ir::DType> dtype_of(const DLDataType& type);

/// The memory in which a tensor may lie.
struct Place {
  enum class Kind { anywhere, host, gpu } kind = Kind::anywhere;
  int ordinal = 0;  // the GPU's number
};

/// Reads extents and strides of a tensor that is given for `value`. Errors: invalid_argument, which names the tensor,
/// for another type, rank or place, or for missing extents.
[[nodiscard]] Result<ir::ArgumentShape> shape_of(const DLTensor& tensor, const ir::Value& value, const Place& place);

/// Returns the address of the first element; null for a tensor without data.
[[nodiscard]] inline void* address_of(const DLTensor& tensor) {
  if (tensor.data == nullptr) return nullptr;
  // Adds integers, not pointers: the caller's offset may lead anywhere.
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset);
}

}  // namespace padlock::capi
