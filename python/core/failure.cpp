#include "python/core/failure.h"

namespace padlock::python {
namespace {

[[noreturn]] void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace

void fail(const Error& error) {
  nb::dict values;
  for (const auto& [name, value] : error.values()) values[name.c_str()] = value;
  raise(nb::module_::import_("padlock.errors")
            .attr("make_error")(error.status(), error.blame(), error.message(), error.text(), error.axis(),
                                error.expression(), values, error.line(), error.column()));
}

void fail(padlock_status status, const std::string& message, int axis) {
  raise(nb::module_::import_("padlock.errors")
            .attr("make_error")(status, PADLOCK_BLAME_CALLER + 0, message, message, axis, "", nb::dict(), 0, 0));
}

}  // namespace padlock::python
