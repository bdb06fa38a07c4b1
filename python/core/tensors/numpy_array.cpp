#include "python/core/tensors/numpy_array.h"

#include <array>

#include "python/core/failure.h"
#include "python/core/tensors/buffer.h"
#include "python/core/tensors/element_type.h"
#include "python/core/tensors/families.h"

namespace padlock::python {
namespace {

/// The element types by NumPy's numbers; 0 bits for those that programs lack.
constexpr auto kTypes = std::to_array<DLDataType>({
    {kDLBool, 8, 1},
    {kDLInt, 8, 1},
    {kDLUInt, 8, 1},
    {kDLInt, 16, 1},
    {kDLUInt, 16, 1},
    {kDLInt, 32, 1},
    {kDLUInt, 32, 1},
    {kDLInt, 64, 1},
    {kDLUInt, 64, 1},  // long
    {kDLInt, 64, 1},
    {kDLUInt, 64, 1},
    {kDLFloat, 32, 1},
    {kDLFloat, 64, 1},
    {},  // long double
    {kDLComplexCode, 64, 1},
    {kDLComplexCode, 128, 1},
    {},
    {},
    {},
    {},
    {},
    {},
    {},  // text, records, times
    {kDLFloat, 16, 1},
});

bool same_as_buffer(const nb::object& array) {
  const auto& seen = *reinterpret_cast<const NumpyArray*>(array.ptr());
  Py_buffer view{};
  check_python(PyObject_GetBuffer(array.ptr(), &view, PyBUF_RECORDS_RO) == 0);
  const DLDataType type = type_of_format(view.format, view.itemsize);
  const bool same = seen.data == view.buf && seen.rank == 2 && view.ndim == 2 && seen.extents[0] == view.shape[0] &&
                    seen.extents[1] == view.shape[1] && seen.strides[0] == view.strides[0] &&
                    seen.strides[1] == view.strides[1] && seen.is_writeable() == (view.readonly == 0) &&
                    type_of(seen).code == type.code && type_of(seen).bits == type.bits;
  PyBuffer_Release(&view);
  return same;
}

/// Checks the struct against two arrays: a writable one, and a read-only one.
bool layout_is_known() {
  const nb::object zeros = loaded_module("numpy").attr("zeros");
  for (const char* letter : {"b", "f", "D"}) {
    const nb::object array = zeros(nb::make_tuple(2, 3), letter);
    if (!same_as_buffer(array)) return false;
    array.attr("setflags")(nb::arg("write") = false);
    if (!same_as_buffer(nb::object(array.attr("T")))) return false;
  }
  return true;
}

}  // namespace

DLDataType type_of(const NumpyArray& array) {
  const auto number = static_cast<std::size_t>(array.type->number);
  return number < kTypes.size() ? kTypes[number] : DLDataType{};
}

const NumpyArray* numpy_array(PyObject* array) {
  static const bool kIsKnown = layout_is_known();
  const auto* const seen = reinterpret_cast<const NumpyArray*>(array);
  return kIsKnown && seen->type->byte_order != '>' && type_of(*seen).bits != 0 ? seen : nullptr;
}

}  // namespace padlock::python
