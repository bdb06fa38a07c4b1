#pragma once

#include <cstdint>

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// NumPy's array as a struct: the layout that its headers give to every extension, from 1.x to 2.x, declared by hand. A
// buffer of the same array takes NumPy ten times as long to describe.
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

/// The struct of a numpy.ndarray. NULL where only the buffer protocol tells: elements of other kinds than NumPy's own
/// numbers in this machine's order, or a NumPy that is laid out otherwise.
[[nodiscard]] const NumpyArray* numpy_array(PyObject* array);
/// The type of its elements.
[[nodiscard]] DLDataType type_of(const NumpyArray& array);

}  // namespace padlock::python
