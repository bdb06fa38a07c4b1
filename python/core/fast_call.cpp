#include "python/core/fast_call.h"

#include <algorithm>
#include <string>

namespace padlock::python {
namespace {

PyObject* interned(const char* text) {
  PyObject* const made = PyUnicode_InternFromString(text);
  check_python(made != nullptr);
  return made;
}

}  // namespace

Signature::Signature(const char* function, std::size_t required, std::initializer_list<Parameter> parameters,
                     const char* hint)
    : function_(function), hint_(hint), required_(required) {
  for (const Parameter& one : parameters)
    slots_.push_back({interned(one.name), one.fallback != nullptr ? interned(one.fallback) : Py_None});
}

void Signature::refuse(const std::string& message) const {
  PyErr_SetString(PyExc_TypeError, (std::string(function_) + "() " + message).c_str());
  throw nb::python_error();
}

std::size_t Signature::index_of(PyObject* name) const {
  // Names in a call are interned, like ours. Those of a dict need not be.
  auto found = std::ranges::find(slots_, name, &Slot::key);
  if (found == slots_.end())
    found = std::ranges::find_if(slots_, [&](const Slot& slot) { return PyUnicode_Compare(name, slot.key) == 0; });
  if (found == slots_.end()) {
    std::string all;
    for (const Slot& slot : slots_) all += (all.empty() ? "" : ", ") + nb::cast<std::string>(nb::handle(slot.key));
    refuse(std::string("has no parameter ") + nb::repr(name).c_str() + ": it has " + all + hint_);
  }
  return static_cast<std::size_t>(found - slots_.begin());
}

void Signature::match(PyObject* const* given, Py_ssize_t count, PyObject* names, std::span<nb::handle> values) const {
  const auto by_position = static_cast<std::size_t>(count);
  if (by_position > slots_.size())
    refuse("takes at most " + std::to_string(slots_.size()) + " arguments, " + std::to_string(count) + " are given");
  std::copy_n(given, by_position, values.begin());
  const Py_ssize_t by_name = names != nullptr ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < by_name; ++i) {
    PyObject* const name = PyTuple_GetItem(names, i);
    nb::handle& value = values[index_of(name)];
    if (value.is_valid()) refuse(std::string("got two values for ") + nb::repr(name).c_str());
    value = given[count + i];
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (values[i].is_valid()) continue;
    if (i < required_) refuse(std::string("lacks a value for ") + nb::repr(slots_[i].key).c_str() + hint_);
    values[i] = slots_[i].fallback;
  }
}

}  // namespace padlock::python
