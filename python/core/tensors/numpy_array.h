#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// NumPy's array as a struct: the layout that its headers give to every extension, from 1.x to 2.x, declared here. NumPy
// takes ten times as long to describe the same array as a buffer.
namespace padlock::python {

struct NumpyType {
  PyObject head;
  PyTypeObject* scalar;
  char kind, letter, byte_order, unused;
  int number;
};

struct NumpyArray {
  PyObject head;
  char* data;
  int rank;
  std::intptr_t* extents;
  std::intptr_t* strides;  // in bytes
  PyObject* base;
  const NumpyType* type;
  int flags;

  [[nodiscard]] bool is_writeable() const { return (flags & 0x400) != 0; }
  [[nodiscard]] bool is_column_major() const { return (flags & 3) == 2; }
};

/// Returns the struct of a numpy.ndarray. NULL for arrays that only the buffer protocol describes: elements other than
/// NumPy's own numbers in this machine's order, or a NumPy with another layout.
[[nodiscard]] const NumpyArray* numpy_array(PyObject* array);
/// Returns the type of its elements.
[[nodiscard]] DLDataType type_of(const NumpyArray& array);

}  // namespace padlock::python
