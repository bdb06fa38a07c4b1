#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <utility>

#include "padlock/padlock.hpp"

// Errors of the library as Python exceptions: subclasses of padlock.Error, which padlock/errors.py chooses by status
// and blame.
namespace padlock::python {

namespace nb = nanobind;

[[noreturn]] void fail(const Error& error);
/// Raises an error of the caller, found before the library is called.
[[noreturn]] void fail(padlock_status status, const std::string& message, int axis = -1, const nb::dict& values = {});

/// Raises the Python error that a C function has set. If it failed without setting one, names the function.
[[noreturn]] void raise_python();
/// Raises the Python error if a C function failed.
inline void check_python(bool fine) {
  if (!fine) raise_python();
}
/// Returns foreign text for a message: at most 40 bytes, with all but letters escaped.
[[nodiscard]] std::string quoted(const char* text);
/// Takes over the reference that a Python function returned.
inline nb::object owned(PyObject* object) {
  check_python(object != nullptr);
  return nb::steal(object);
}

inline void check(const Status& status) {
  if (!status) fail(status.error());
}
template <class T>
T value_of(Expected<T>&& made) {
  if (!made) fail(made.error());
  return *std::move(made);
}

}  // namespace padlock::python
