#pragma once

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// Which door a type of tensors has, asked once a type.
namespace padlock::python {

namespace nb = nanobind;

enum class Reader {
  none,    ///< no tensor that we know of
  numpy,   ///< a numpy.ndarray: the buffer protocol
  table,   ///< DLPack's exchange table
  torch,   ///< torch.Tensor or Parameter itself: the table, where it tells the truth
  traced,  ///< a subclass of torch.Tensor: torch's dispatcher has the word
  dlpack,  ///< __dlpack__
  buffer,  ///< the buffer protocol: memoryview, array.array
};

struct Family {
  PyTypeObject* type = nullptr;  // borrowed; the family goes with it
  Reader reader = Reader::none;
  const DLExchange* table = nullptr;
  bool immutable = false;  // whatever its DLPack says: jax.Array
  bool is_cupy = false;    // which has a current stream, and no table that tells it
  nb::object weak;         // that tells when the type goes
};

/// The family of an object. Lives as long as the object's type. The GIL is held.
[[nodiscard]] const Family& family_of(PyObject* object);

/// Imports nothing: NULL where nobody has imported the module.
[[nodiscard]] nb::object loaded_module(const char* name);

}  // namespace padlock::python
