#pragma once

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <new>
#include <span>
#include <vector>

#include "python/core/failure.h"

// Functions that read their arguments directly from Python's stack. nanobind's own also choose among overloads and
// convert, which takes longer than a small pad.
namespace padlock::python {

/// The parameters of such a function.
class Signature {
 public:
  struct Parameter {
    const char* name;
    const char* fallback = nullptr;  // a text, if it is not given; NULL: None
  };

  /// The first `required` parameters are mandatory; `hint` ends the message if one is missing.
  Signature(const char* function, std::size_t required, std::initializer_list<Parameter> parameters,
            const char* hint = "");

  /// Fills `values`, one for each parameter, with borrowed references: `count` positional ones, then those named in
  /// `names`, a tuple or NULL. Errors: TypeError.
  void match(PyObject* const* given, Py_ssize_t count, PyObject* names, std::span<nb::handle> values) const;

 private:
  [[nodiscard]] std::size_t index_of(PyObject* name) const;
  [[noreturn]] void refuse(const std::string& message) const;

  struct Slot {
    PyObject *key, *fallback;
  };
  const char* function_;
  const char* hint_;
  std::size_t required_;
  std::vector<Slot> slots_;
};

/// Runs a function that makes an object, and turns its exceptions into Python errors.
template <class Run>
PyObject* guarded(Run&& run) noexcept {
  try {
    return nb::object(run()).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace padlock::python
