#include <string>
#include <utility>

#include "python/core/arguments.h"
#include "python/core/kernel.h"

// Explaining, proving, emitting and tuning of kernels.
namespace padlock::python {
namespace {

nb::str text_of(const Text& text) { return nb::str(text.view().data(), text.view().size()); }

Sizes sizes_of(const nb::dict& values) {
  Sizes sizes;
  for (const auto& [name, value] : values) sizes.set(nb::cast<std::string>(name), nb::cast<std::int64_t>(value));
  return sizes;
}

/// The callbacks of a tuning, called on the thread that tunes, without the GIL.
struct Listener {
  nb::object progress;
};

std::int32_t stop_after_signal(void*) {
  const nb::gil_scoped_acquire acquired;
  return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0 ? 1 : 0;
}

std::int32_t tell(void* user, const padlock_progress* progress) {
  const nb::gil_scoped_acquire acquired;
  const nb::object& listener = static_cast<Listener*>(user)->progress;
  if (PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0) return 1;
  if (listener.is_none()) return 0;
  nb::dict told;
  told["region"] = progress->region;
  told["region_count"] = progress->region_count;
  told["tried"] = progress->tried;
  told["config_count"] = progress->config_count;
  told["best"] = progress->best;
  told["best_seconds"] = static_cast<double>(progress->best_picoseconds) * 1e-12;
  told["seconds_left"] = progress->seconds_left;
  try {
    listener(told);
  } catch (nb::python_error& error) {
    error.restore();
    return 1;
  }
  return 0;
}

}  // namespace

std::vector<std::string> KernelObject::names() const {
  std::vector<std::string> all;
  for (const Parameter& parameter : parameters_) all.push_back(parameter.name);
  return all;
}

nb::dict KernelObject::shapes(const nb::args& arguments, const nb::kwargs& named) {
  return translated([&] { return shapes_of(arguments, named); });
}

nb::dict KernelObject::shapes_of(const nb::args& arguments, const nb::kwargs& named) {
  Arguments matched(*this);
  match(arguments.ptr(), named.ptr(), matched);
  read(matched, false);
  if (matched.traced) fail(PADLOCK_INVALID_ARGUMENT, "expected plain tensors, or sizes by their names");
  const Call call = value_of(compiled().program.bind(matched.binding()));
  nb::dict all;
  for (const TensorInfo& result : call.results()) {
    nb::list extents;
    for (const std::int64_t extent : result.extents) extents.append(extent);
    all[nb::str(result.name.data(), result.name.size())] = nb::tuple(extents);
  }
  return all;
}

nb::str KernelObject::explain(const nb::args& arguments, const nb::kwargs& named) {
  if (arguments.size() == 0 && named.size() == 0)
    return text_of(value_of(compiled().program.explain(options("host", ""))));
  Arguments matched(*this);
  match(arguments.ptr(), named.ptr(), matched);
  read(matched, false);
  if (matched.traced) fail(PADLOCK_INVALID_ARGUMENT, "expected plain tensors, or sizes by their names");
  const Binding binding = matched.binding();
  return text_of(value_of(compiled().program.explain(options("host", ""), &binding)));
}

nb::tuple KernelObject::prove(const std::string& target, bool all_configs) {
  const Program program = compiled().program;
  const CompileOptions how = options("host", target);
  auto proofs = [&] {
    const nb::gil_scoped_release released;
    return program.prove(how, all_configs);
  }();
  const Program::Proofs found = value_of(std::move(proofs));
  return nb::make_tuple(found.refuted, text_of(found.report), text_of(found.json));
}

nb::str KernelObject::emit(const std::string& stage, const std::string& target) {
  return text_of(value_of(compiled().program.emit(stage, options("host", target))));
}

nb::str KernelObject::tune(const nb::dict& min, const nb::dict& opt, const nb::dict& max, double budget,
                           const std::string& device, const std::string& search, const std::string& regime,
                           nb::object progress) {
  Listener listener{std::move(progress)};
  const Tuner tuner = value_of(compiled().program.tuner({.device = device,
                                                         .search = search,
                                                         .min = sizes_of(min),
                                                         .opt = sizes_of(opt),
                                                         .max = sizes_of(max),
                                                         .budget_seconds = budget,
                                                         .progress = tell,
                                                         .cancel = stop_after_signal,
                                                         .user = &listener,
                                                         .regime = regime}));
  const Status status = [&] {
    const nb::gil_scoped_release released;
    return tuner.run();
  }();
  check_python(PyErr_Occurred() == nullptr);  // Ctrl-C, or an exception of the listener
  check(status);
  compiled_.kernels.clear();  // the next call compiles with the new choices
  compiled_.calls = CallCache(256);
  process_context().trim();
  return text_of(value_of(tuner.report()));
}

}  // namespace padlock::python
