#include "python/core/collate.h"

#include <algorithm>

namespace padlock::python {
namespace {

/// No Python code runs while items are read, so no list changes its length.
bool write_items(PyObject* list, Py_ssize_t count, std::int64_t* to) {
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* const item = PyList_GetItem(list, i);
    if (item == nullptr) return false;
    if (Py_TYPE(item) != &PyLong_Type && !PyLong_Check(item)) return false;  // the second is a call
    int overflow = 0;
    to[i] = PyLong_AsLongLongAndOverflow(item, &overflow);
    if (overflow != 0) return false;
  }
  return true;
}

}  // namespace

bool collate_lists(nanobind::list sequences, std::int64_t width, bool is_left, std::int64_t fill,
                   std::uintptr_t numbers, std::uintptr_t mask) {
  auto* row = reinterpret_cast<std::int64_t*>(numbers);
  auto* marks = reinterpret_cast<std::int64_t*>(mask);
  for (const nanobind::handle sequence : sequences) {
    if (!PyList_Check(sequence.ptr())) return false;
    const Py_ssize_t count = PyList_Size(sequence.ptr());
    if (count < 0 || count > width) return false;
    const std::int64_t begin = is_left ? width - count : 0;
    const std::int64_t end = begin + count;
    std::fill(row, row + begin, fill);
    if (!write_items(sequence.ptr(), count, row + begin)) {
      PyErr_Clear();
      return false;
    }
    std::fill(row + end, row + width, fill);
    row += width;
    if (marks == nullptr) continue;
    std::fill(marks, marks + begin, 0);
    std::fill(marks + begin, marks + end, 1);
    std::fill(marks + end, marks + width, 0);
    marks += width;
  }
  return true;
}

}  // namespace padlock::python
