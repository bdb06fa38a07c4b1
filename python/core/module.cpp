#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>

#include "python/core/collate.h"
#include "python/core/fast_call.h"
#include "python/core/kernel.h"
#include "python/core/onnx.h"
#include "python/core/pack.h"
#include "python/core/pads/pad.h"
#include "python/core/process.h"
#include "python/core/xla/pad_handler.h"
#include "python/core/xla/program_handler.h"

// The module padlock._core, which the package's Python files use.

namespace nb = nanobind;
using namespace nb::literals;
using padlock::python::KernelObject;
using padlock::python::Signature;

namespace {

PyObject* call_kernel(PyObject* self, PyObject* arguments, PyObject* named) {
  return padlock::python::guarded([&] {
    if (!nb::inst_ready(self)) throw std::runtime_error("a kernel that was not initialised");
    return nb::inst_ptr<KernelObject>(self)->call(arguments, named);
  });
}

void add_kernel(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_kernel)}, {0, nullptr}};
  nb::class_<KernelObject>(module, "Kernel", nb::dynamic_attr(), nb::type_slots(slots))
      .def(nb::init<std::string, const std::vector<std::string>&, std::string, bool,
                    std::shared_ptr<padlock::python::PackObject>>(),
           "text"_a, "order"_a, "config"_a, "bounds_check"_a, "pack"_a.none() = nb::none())
      .def("_set_defaults", &KernelObject::set_defaults)
      .def_prop_rw("keeps_results", &KernelObject::keeps_results, &KernelObject::keep_results)
      .def_prop_ro("_kept_bytes", &KernelObject::kept_bytes)
      .def("_share_results", &KernelObject::share_results)
      .def_prop_ro("text", &KernelObject::text)
      .def_prop_ro("name", &KernelObject::name)
      .def("_call_memory", &KernelObject::call_memory)
      .def("_call_plain", &KernelObject::call_plain)
      .def("_call_into", &KernelObject::call_into)
      .def("_ordered", &KernelObject::ordered)
      .def_prop_ro("_counts", &KernelObject::counts)
      .def_prop_ro("_names", &KernelObject::names)
      .def("shapes", &KernelObject::shapes)
      .def("_compile", &KernelObject::compile, "device"_a)
      .def("_explain", &KernelObject::explain)
      .def("_prove", &KernelObject::prove, "target"_a, "all_configs"_a)
      .def("_emit", &KernelObject::emit, "stage"_a, "target"_a)
      .def("_tune", &KernelObject::tune, "min"_a, "opt"_a, "max"_a, "budget"_a, "device"_a, "search"_a, "regime"_a,
           "progress"_a.none());
}

void add_packs(nb::module_& module) {
  using padlock::python::PackObject;
  nb::class_<PackObject>(module, "Pack")
      .def(nb::init<const nb::bytes&>(), "contents"_a)
      .def_prop_ro("names", &PackObject::names)
      .def("_describe", &PackObject::describe);
  module.def("make_pack", &padlock::python::make_pack, "texts"_a, "targets"_a);
}

void configure(int threads, std::string cache, std::string cache_file, std::string worker) {
  padlock::python::configure({threads, std::move(cache), std::move(cache_file), std::move(worker)});
}

std::pair<std::uint64_t, std::uint64_t> bits_of(nb::handle value, std::uint8_t code, std::uint8_t bits) {
  const padlock::python::Bits made = padlock::python::bits_of(value, {code, bits, 1});
  return {made.low, made.high};
}

PyObject* pad(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* names) {
  return padlock::python::guarded([&] {
    static const Signature kSignature(
        "pad", 3, {{"x"}, {"low"}, {"high"}, {"mode", "constant"}, {"value"}, {"interior"}, {"out"}},
        "; 'low' and 'high' have one amount an axis. padlock.numpy.pad takes NumPy's pairs");
    std::array<nb::handle, 7> v;
    kSignature.match(given, count, names, v);
    return padlock::python::pad(v[0], v[1], v[2], v[3], v[4], v[5], v[6]);
  });
}

PyObject* pad_like_torch(PyObject*, PyObject* const* given, Py_ssize_t count, PyObject* names) {
  return padlock::python::guarded([&] {
    static const Signature kSignature("pad", 2, {{"input"}, {"pad"}, {"mode", "constant"}, {"value"}, {"out"}});
    std::array<nb::handle, 5> v;
    kSignature.match(given, count, names, v);
    return padlock::python::pad_like_torch(v[0], v[1], v[2], v[3], v[4]);
  });
}

PyObject* pad_like_numpy(PyObject*, PyObject* const* given, Py_ssize_t count) {
  return padlock::python::guarded([&] {
    if (count != 4) throw std::runtime_error("pad_like_numpy takes four arguments");
    return padlock::python::pad_like_numpy(given[0], given[1], given[2], given[3]);
  });
}

/// Adds the functions whose cost per call is counted in nanoseconds.
void add_pads(nb::module_& module) {
  static std::array functions = std::to_array<PyMethodDef>(
      {{"pad", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(pad)), METH_FASTCALL | METH_KEYWORDS,
        "pad(x, low, high, mode='constant', value=None, interior=None, out=None)\n--\n\n"
        "Pads a tensor as the language does: `low` and `high` elements along each axis, of either sign."},
       {"pad_like_torch", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(pad_like_torch)),
        METH_FASTCALL | METH_KEYWORDS,
        "pad_like_torch(input, pad, mode='constant', value=None, out=None)\n--\n\n"
        "Pads as torch.nn.functional.pad does, for any rank, type and width; `mode` may be symmetric, too."},
       {"pad_like_numpy", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(pad_like_numpy)), METH_FASTCALL,
        "pad_like_numpy(array, pad_width, mode, out, /)\n--\n\nPads as numpy.pad does, or returns None."},
       {}});
  if (PyModule_AddFunctions(module.ptr(), functions.data()) != 0) throw nb::python_error();
}

}  // namespace

NB_MODULE(_core, module) {
  // At exit a daemon thread may still hold a kernel, which is not a leak. Tests want to know.
  nb::set_leak_warnings(std::getenv("PADLOCK_LEAK_WARNINGS") != nullptr);
  padlock::python::add_result_memory(module);
  add_packs(module);
  add_kernel(module);
  module.attr("api_version") = padlock_api_version();
  module.attr("version") = padlock_version();
  module.def("configure", &configure, "threads"_a, "cache"_a, "cache_file"_a, "worker"_a);
  module.def("trim", &padlock::python::trim);
  add_pads(module);
  module.def("import_onnx", &padlock::python::import_onnx, "model"_a, "folder"_a, "outputs"_a);
  module.def("collate_lists", &padlock::python::collate_lists);
  module.def("xla_pad_handler", &padlock::python::xla_pad_handler);
  module.def("xla_program_handler", &padlock::python::xla_program_handler);
  module.def("bits_of", &bits_of, "value"_a.none(), "code"_a, "bits"_a);
  module.def("pad_memory", &padlock::python::pad_memory, "x"_a.none(), "low"_a.none(), "high"_a.none(), "mode"_a,
             "value"_a.none(), "interior"_a.none(), "out"_a.none());
}
