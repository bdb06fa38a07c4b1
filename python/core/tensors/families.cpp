#include "python/core/tensors/families.h"

#include <memory>
#include <string_view>
#include <unordered_map>

#include "python/core/failure.h"

namespace padlock::python {
namespace {

bool is_instance(PyTypeObject* type, const char* module, const char* name) {
  const nb::object found = loaded_module(module);
  if (!found.is_valid() || !nb::hasattr(found, name)) return false;
  const int is = PyObject_IsSubclass(reinterpret_cast<PyObject*>(type), nb::object(found.attr(name)).ptr());
  if (is < 0) PyErr_Clear();
  return is == 1;
}

/// Returns the newest table with our major version in the chain that a capsule begins.
const DLExchange* table_of(PyTypeObject* type) {
  const nb::handle named(reinterpret_cast<PyObject*>(type));
  for (const char* name : {"__dlpack_c_exchange_api__", "__c_dlpack_exchange_api__"}) {
    const nb::object capsule = nb::getattr(named, name, nb::object());
    if (!capsule.is_valid()) continue;
    const auto* table = static_cast<const DLExchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    if (table == nullptr) PyErr_Clear();
    while (table != nullptr && table->version.major != kDLMajor) table = table->previous;
    if (table != nullptr && table->view_of != nullptr && table->allocate != nullptr && table->to_object != nullptr &&
        table->current_stream != nullptr)
      return table;
  }
  return nullptr;
}

/// Only Tensor and Parameter themselves are known; a subclass may mean anything.
Reader torch_reader(PyTypeObject* type) {
  const auto is = [&](const char* module, const char* name) {
    const nb::object found = loaded_module(module);
    return found.is_valid() && nb::object(found.attr(name)).ptr() == reinterpret_cast<PyObject*>(type);
  };
  return is("torch", "Tensor") || is("torch.nn", "Parameter") ? Reader::torch : Reader::traced;
}

Family describe(PyTypeObject* type) {
  Family family{.type = type, .table = table_of(type)};
  const nb::handle named(reinterpret_cast<PyObject*>(type));
  if (is_instance(type, "torch", "Tensor")) {
    family.reader = family.table != nullptr ? torch_reader(type) : Reader::traced;
  } else if (family.table != nullptr) {
    family.reader = Reader::table;
  } else if (is_instance(type, "numpy", "ndarray")) {
    family.reader = is_instance(type, "numpy.ma", "MaskedArray") ? Reader::none : Reader::numpy;
  } else if (nb::hasattr(named, "__dlpack__") && nb::hasattr(named, "__dlpack_device__")) {
    family.reader = Reader::dlpack;
    family.immutable = is_instance(type, "jax", "Array");
    family.is_cupy = is_instance(type, "cupy", "ndarray");
  } else {
    family.reader = Reader::buffer;
  }
  return family;
}

struct Families {
  std::unordered_map<PyTypeObject*, std::unique_ptr<Family>> by_type;
  const Family* last = nullptr;

  void forget(PyTypeObject* type) {
    if (last != nullptr && last->type == type) last = nullptr;
    by_type.erase(type);
  }
};

Families& families() {
  static auto& all = *new Families();
  return all;
}

/// Makes a weak reference that removes the family with its type, whose address another type may get later.
nb::object weak_reference(PyTypeObject* type) {
  const nb::object forget = nb::cpp_function([type](nb::handle) { families().forget(type); });
  return owned(PyWeakref_NewRef(reinterpret_cast<PyObject*>(type), forget.ptr()));
}

}  // namespace

nb::object loaded_module(const char* name) {
  PyObject* const found = PyDict_GetItemString(PyImport_GetModuleDict(), name);
  return found != nullptr ? nb::borrow(found) : nb::object();
}

const Family& family_of(PyObject* object) {
  Families& all = families();
  PyTypeObject* const type = Py_TYPE(object);
  if (all.last != nullptr && all.last->type == type) return *all.last;
  const auto known = all.by_type.find(type);
  if (known != all.by_type.end()) return *(all.last = known->second.get());
  auto family = std::make_unique<Family>(describe(type));
  family->weak = weak_reference(type);
  return *(all.last = (all.by_type[type] = std::move(family)).get());
}

}  // namespace padlock::python
