#pragma once

#include <nanobind/nanobind.h>

// The buffer protocol, which Python's limited API has from 3.11 on; its struct and functions are those of 3.10.
#if defined(Py_LIMITED_API) && Py_LIMITED_API < 0x030b0000
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): Python's names
struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject* object, Py_buffer* view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer* view);
// NOLINTEND(readability-identifier-naming)
}
#define PyBUF_RECORDS_RO 0x1c /* strides and format */
#endif
