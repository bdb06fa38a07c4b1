#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/core/kernel.h"
#include "python/core/pad.h"
#include "python/core/process.h"
#include "python/core/xla/pad_handler.h"

// The module padlock._core: what Python's files stand on.

namespace nb = nanobind;
using namespace nb::literals;
using padlock::python::KernelObject;

namespace {

void add_kernel(nb::module_& module) {
  nb::class_<KernelObject>(module, "Kernel", nb::dynamic_attr())
      .def(nb::init<std::string, const std::vector<std::string>&, std::string, bool>(), "text"_a, "order"_a, "config"_a,
           "bounds_check"_a)
      .def_prop_ro("text", &KernelObject::text)
      .def_prop_ro("name", &KernelObject::name)
      .def("__call__", &KernelObject::call)
      .def("_call_memory", &KernelObject::call_memory)
      .def("_ordered", &KernelObject::ordered)
      .def_prop_ro("_counts", &KernelObject::counts)
      .def("shapes", &KernelObject::shapes)
      .def("_compile", &KernelObject::compile, "device"_a)
      .def("_explain", &KernelObject::explain)
      .def("_prove", &KernelObject::prove, "target"_a, "all_configs"_a)
      .def("_emit", &KernelObject::emit, "stage"_a, "target"_a)
      .def("_tune", &KernelObject::tune, "min"_a, "opt"_a, "max"_a, "budget"_a, "device"_a, "search"_a,
           "progress"_a.none());
}

void configure(int threads, std::string cache, std::string cache_file, std::string worker) {
  padlock::python::configure({threads, std::move(cache), std::move(cache_file), std::move(worker)});
}

std::pair<std::uint64_t, std::uint64_t> bits_of(nb::handle value, std::uint8_t code, std::uint8_t bits) {
  const padlock::python::Bits made = padlock::python::bits_of(value, {code, bits, 1});
  return {made.low, made.high};
}

}  // namespace

NB_MODULE(_core, module) {
  add_kernel(module);
  module.attr("api_version") = padlock_api_version();
  module.attr("version") = padlock_version();
  module.def("configure", &configure, "threads"_a, "cache"_a, "cache_file"_a, "worker"_a);
  module.def("after_fork_in_child", &padlock::python::after_fork_in_child);
  module.def("pad", &padlock::python::pad, "x"_a.none(), "low"_a.none(), "high"_a.none(), "mode"_a = "constant",
             "value"_a.none() = nb::none(), "interior"_a.none() = nb::none(), "out"_a.none() = nb::none());
  module.def("xla_pad_handler", &padlock::python::xla_pad_handler);
  module.def("bits_of", &bits_of, "value"_a.none(), "code"_a, "bits"_a);
  module.def("pad_memory", &padlock::python::pad_memory, "x"_a.none(), "low"_a.none(), "high"_a.none(), "mode"_a,
             "value"_a.none(), "interior"_a.none(), "out"_a.none());
  module.def("pad_like_torch", &padlock::python::pad_like_torch, "input"_a.none(), "pad"_a.none(),
             "mode"_a = "constant", "value"_a.none() = nb::none(), "out"_a.none() = nb::none());
}
