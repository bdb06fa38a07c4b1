#include "python/core/failure.h"

namespace padlock::python {
namespace {

[[noreturn]] void raise(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace

void raise_python() {
  if (PyErr_Occurred() == nullptr)
    fail(PADLOCK_INVALID_ARGUMENT,
         "expected a function of an array library to succeed, or to raise an error, found one that did neither");
  throw nb::python_error();
}

std::string quoted(const char* text) {
  constexpr std::size_t kMost = 40;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string made = "'";
  for (const char* c = text; *c != '\0'; ++c) {
    if (c == text + kMost) return made + "...'";
    const auto byte = static_cast<unsigned char>(*c);
    if (byte >= 0x20 && byte < 0x7f)
      made += *c;
    else
      made += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return made + "'";
}

void fail(const Error& error) {
  nb::dict values;
  for (const auto& [name, value] : error.values()) values[name.c_str()] = value;
  raise(nb::module_::import_("padlock.errors")
            .attr("make_error")(error.status(), error.blame(), error.message(), error.text(), error.axis(),
                                error.expression(), values, error.line(), error.column()));
}

void fail(padlock_status status, const std::string& message, int axis, const nb::dict& values) {
  raise(nb::module_::import_("padlock.errors")
            .attr("make_error")(status, PADLOCK_BLAME_CALLER + 0, message, message, axis, "", values, 0, 0));
}

}  // namespace padlock::python
