#pragma once

#include <cstddef>
#include <exception>
#include <initializer_list>
#include <new>
#include <span>
#include <vector>

#include "python/core/failure.h"

// Functions that take their arguments as they lie on Python's stack. nanobind's own, which also choose among overloads
// and convert, take longer to call than a small pad takes.
namespace padlock::python {

/// The parameters of such a function.
class Signature {
 public:
  struct Parameter {
    const char* name;
    const char* fallback = nullptr;  // a text, where none is given; NULL: None
  };

  /// The first `required` parameters have to be given; `hint` ends the message if one is not.
  Signature(const char* function, std::size_t required, std::initializer_list<Parameter> parameters,
            const char* hint = "");

  /// Fills `values`, one a parameter, with borrowed references: `count` by position, then those that `names`, a tuple
  /// or NULL, names. Errors: TypeError.
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

/// Runs what makes an object, and ends its exceptions in Python's errors.
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
