#pragma once

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// Which protocol a type of tensors has, found once for each type.
namespace padlock::python {

namespace nb = nanobind;

enum class Reader {
  none,    ///< not a tensor that we know of
  numpy,   ///< a numpy.ndarray: the buffer protocol
  table,   ///< DLPack's exchange table
  torch,   ///< torch.Tensor or Parameter itself: the table, if it is reliable
  traced,  ///< a subclass of torch.Tensor: torch's dispatcher
  dlpack,  ///< __dlpack__
  buffer,  ///< the buffer protocol: memoryview, array.array
};

struct Family {
  PyTypeObject* type = nullptr;  // borrowed; the family goes with it
  Reader reader = Reader::none;
  const DLExchange* table = nullptr;
  bool immutable = false;  // whatever DLPack says of it: jax.Array
  bool is_cupy = false;    // it has a current stream, and no table that tells it
  nb::object weak = {};    // notices the end of the type
};

/// Returns the family of an object. Lives as long as the object's type. Precondition: the GIL is held.
[[nodiscard]] const Family& family_of(PyObject* object);

/// Returns an imported module; NULL if it is not imported. Imports nothing.
[[nodiscard]] nb::object loaded_module(const char* name);

}  // namespace padlock::python
