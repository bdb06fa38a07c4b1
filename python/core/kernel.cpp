#include "python/core/kernel.h"

#include <algorithm>
#include <string>
#include <utility>

#include "python/core/arguments.h"
#include "python/core/launch.h"
#include "python/core/tensors/element_type.h"

namespace padlock::python {
namespace {

PyObject* intern(const std::string& name) {
  PyObject* const key = PyUnicode_InternFromString(name.c_str());
  check_python(key != nullptr);
  return key;
}

std::string device_name(DLDevice device) {
  if (device.device_type == kDLCPU || device.device_type == kDLCUDAHost) return "host";
  if (device.device_type == kDLCUDA || device.device_type == kDLCUDAManaged)
    return "cuda:" + std::to_string(device.device_id);
  fail(PADLOCK_INVALID_ARGUMENT,
       "expected a tensor on a CPU or an NVIDIA GPU, found DLPack's device type " + std::to_string(device.device_type));
}

std::int64_t dim_of(PyObject* value, const char* name) {
  const nb::object number = nb::steal(PyNumber_Index(value));
  const std::int64_t dim = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
  if (PyErr_Occurred() == nullptr) return dim;
  PyErr_Clear();
  fail(PADLOCK_INVALID_ARGUMENT,
       std::string("expected an integer of 64 bits for '") + name + "', found " + nb::repr(value).c_str());
}

/// Reads the first of the tensors for results. Returns false if none is given, or none that can be read here: the
/// launch then reports the reason.
bool first_result(nb::handle out, Tensor& first, TorchState& torch) {
  if (out.is_none()) return false;
  const bool many = PyTuple_Check(out.ptr()) || PyList_Check(out.ptr());
  if (!many) return first.read(out.ptr(), torch);
  const nb::object one = nb::steal(PySequence_GetItem(out.ptr(), 0));
  if (!one.is_valid()) PyErr_Clear();
  return one.is_valid() && first.read(one.ptr(), torch);
}

[[noreturn]] void type_error(const std::string& message) {
  PyErr_SetString(PyExc_TypeError, message.c_str());
  throw nb::python_error();
}

}  // namespace

KernelObject::KernelObject(std::string text, const std::vector<std::string>& order, std::string config,
                           bool bounds_check, std::shared_ptr<PackObject> pack)
    : text_(std::move(text)), config_(std::move(config)), bounds_check_(bounds_check), pack_(std::move(pack)) {
  compiled_.generation = process_generation();
  compiled_.program = program_of_text();
  for (const padlock_parameter_info& info : compiled_.program.parameters()) {
    parameters_.push_back({info.name, intern(info.name), info.kind, info.dtype});
    tensors_ += info.kind == PADLOCK_TENSOR;
    scalars_ += info.kind == PADLOCK_SCALAR;
  }
  for (const std::string& name : order) {
    const auto found = std::ranges::find(parameters_, name, &Parameter::name);
    if (found == parameters_.end()) fail(PADLOCK_INVALID_ARGUMENT, "the program has no parameter '" + name + "'");
    positional_.push_back(static_cast<std::size_t>(found - parameters_.begin()));
  }
  for (std::size_t i = 0; order.empty() && i < parameters_.size(); ++i) positional_.push_back(i);
}

KernelObject::~KernelObject() {
  for (const Parameter& parameter : parameters_) Py_DecRef(parameter.key);
  compiled_ = Compiled{};
  forget_kernel();
}

Program KernelObject::program_of_text() const { return value_of(process_context().parse(text_)); }

void KernelObject::set_defaults(const nb::dict& defaults) {
  defaults_.assign(parameters_.size(), nb::object());
  for (const auto& [name, value] : defaults) {
    const auto found = std::ranges::find(parameters_, nb::cast<std::string>(name), &Parameter::name);
    if (found == parameters_.end() || found->kind == PADLOCK_TENSOR)
      fail(PADLOCK_INVALID_ARGUMENT,
           std::string("expected a default of a scalar or a dim, found one of ") + nb::repr(name).c_str());
    defaults_[static_cast<std::size_t>(found - parameters_.begin())] = nb::borrow(value);
  }
}

void KernelObject::translate(const nb::python_error& error) {
  const nb::object self = nb::find(*this);
  const nb::object translate = self.is_valid() ? nb::getattr(self, "_translate", nb::none()) : nb::none();
  if (!translate.is_none()) translate(error.value());
}

std::string KernelObject::name() { return compiled().program.name(); }

Compiled& KernelObject::compiled() {
  if (compiled_.generation == process_generation()) return compiled_;
  compiled_ = Compiled{};
  compiled_.generation = process_generation();
  compiled_.program = program_of_text();
  return compiled_;
}

CompileOptions KernelObject::options(const std::string& device, const std::string& target) const {
  return {.device = device, .target = target, .config = config_, .bounds_check = bounds_check_};
}

padlock::Kernel& KernelObject::kernel(DLDevice device) {
  Compiled& here = compiled();
  const std::pair<int, int> place(device.device_type, device.device_id);
  if (const auto found = here.kernels.find(place); found != here.kernels.end()) return found->second;
  const CompileOptions how = options(device_name(device), "");
  const Program program = here.program;
  const Pack pack = pack_ ? pack_->pack() : Pack();
  auto made = [&] {
    const nb::gil_scoped_release released;
    return pack_ ? pack.kernel(program.name(), how.device) : program.compile(how);
  }();
  return compiled().kernels.insert_or_assign(place, value_of(std::move(made))).first->second;
}

void KernelObject::compile(const std::string& device) {
  if (device == "host") {
    kernel({kDLCPU, 0});
  } else if (device.starts_with("cuda:")) {
    kernel({kDLCUDA, std::stoi(device.substr(5))});
  } else {
    fail(PADLOCK_INVALID_ARGUMENT, "expected the device host or cuda:N, found '" + device + "'");
  }
}

void KernelObject::place(PyObject* key, PyObject* value, Arguments& matched) {
  static PyObject* const kOut = intern("out");
  // Names in a call are interned, like ours. Those of a dict need not be.
  const bool is_ours = key == kOut || std::ranges::find(parameters_, key, &Parameter::key) != parameters_.end();
  const auto same = [&](PyObject* name) { return is_ours ? key == name : PyUnicode_Compare(key, name) == 0; };
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!same(parameters_[i].key)) continue;
    if (matched.values[i] != nullptr) type_error(name() + "() got two values for '" + parameters_[i].name + "'");
    matched.values[i] = value;
    return;
  }
  if (same(kOut)) {
    matched.out = nb::borrow(value);
    return;
  }
  const char* const symbol = PyUnicode_AsUTF8AndSize(key, nullptr);
  check_python(symbol != nullptr);
  matched.others.emplace_back(symbol, value);  // maybe an extent or a stride; the binding checks that
}

void KernelObject::match(PyObject* arguments, PyObject* named, Arguments& matched) {
  const auto count = static_cast<std::size_t>(PyTuple_Size(arguments));
  if (count > positional_.size())
    type_error(name() + "() takes " + std::to_string(positional_.size()) + " arguments, " + std::to_string(count) +
               " are given");
  for (std::size_t i = 0; i < count; ++i)
    matched.values[positional_[i]] = PyTuple_GetItem(arguments, static_cast<Py_ssize_t>(i));
  if (named != nullptr) {
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(named, &position, &key, &value) != 0) place(key, value, matched);
  }
  for (std::size_t i = 0; i < defaults_.size(); ++i)
    if (matched.values[i] == nullptr) matched.values[i] = defaults_[i].ptr();
}

void KernelObject::read(Arguments& matched, bool need_memory) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    PyObject* const value = matched.values[i];
    if (value == nullptr) {
      if (!need_memory && parameter.kind == PADLOCK_TENSOR) {
        matched.views.push_back(nullptr);
        continue;
      }
      if (!need_memory && parameter.kind == PADLOCK_SCALAR) {
        matched.scalars.push_back(0);
        continue;
      }
      if (parameter.kind != PADLOCK_DIM || need_memory)
        type_error(
            name() + "() lacks a value for '" + parameter.name + "'" +
            (matched.others.empty() ? "" : std::string("; it has no parameter '") + matched.others[0].first + "'"));
      continue;
    }
    if (parameter.kind == PADLOCK_TENSOR) {
      Tensor& tensor = matched.tensors[i];
      if (!tensor.read(value, matched.torch)) matched.traced = true;
      if (matched.traced) return;
      if (!tensor.has_whole_strides())
        fail(PADLOCK_INVALID_ARGUMENT, "'" + parameter.name + "': expected strides of whole elements");
      matched.inputs.push_back(&tensor);
      matched.views.push_back(&tensor.view());
      matched.key.add(tensor.view());
    } else if (parameter.kind == PADLOCK_SCALAR) {
      if (value == Py_None)
        fail(PADLOCK_INVALID_ARGUMENT,
             "expected a value of " + readable_name(parameter.type) + " for '" + parameter.name + "', found None");
      matched.scalars.push_back(bits_of(nb::handle(value), parameter.type).low);
      matched.key.add(static_cast<std::int64_t>(matched.scalars.back()));
    } else {
      matched.dims.push_back({parameter.name.c_str(), dim_of(value, parameter.name.c_str())});
      matched.key.add(matched.dims.back().value);
    }
  }
  for (const auto& [symbol, value] : matched.others) {
    matched.dims.push_back({symbol, dim_of(value, symbol)});
    matched.key.add(matched.dims.back().value);
    for (const char* c = symbol; *c != '\0'; ++c) matched.key.add(*c);
  }
}

std::shared_ptr<BoundCall> KernelObject::bound(const CallKey& key, const DLTensor* const* inputs, std::size_t count,
                                               std::span<const std::uint64_t> scalars,
                                               std::span<const padlock_named_value> dims, DLDevice device) {
  if (auto found = compiled().calls.find(key)) return found;
  const padlock::Kernel made = kernel(count > 0 ? inputs[0]->device : device);
  auto how = detail::sized<padlock_bind_options>();
  how.inputs = inputs;
  how.input_count = count;
  how.dims = dims.data();
  how.dim_count = dims.size();
  how.scalars = scalars.data();
  how.scalar_count = scalars.size();
  padlock_call* call = nullptr;
  padlock_error* error = nullptr;
  if (padlock_kernel_bind(made.get(), &how, &call, &error) != PADLOCK_OK) fail(Error(error));
  std::shared_ptr<BoundCall> bound = describe(Call(call));
  bound->memory = memory_;
  compiled().calls.put(key, bound);
  return bound;
}

nb::object KernelObject::call(PyObject* arguments, PyObject* named) {
  return translated([&]() -> nb::object {
    Arguments matched(*this);
    match(arguments, named, matched);
    read(matched, true);
    if (matched.traced)
      return nb::module_::import_("padlock.torch")
          .attr("call_kernel")(nb::find(*this), nb::handle(arguments),
                               named != nullptr ? nb::borrow(named) : nb::object(nb::dict()));
    return run(matched);
  });
}

nb::object KernelObject::call_memory(const nb::args& values) { return call_into(nb::none(), values); }

nb::object KernelObject::call_plain(const nb::args& values) {
  Arguments matched(*this);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    matched.values[i] = PyTuple_GetItem(values.ptr(), static_cast<Py_ssize_t>(i));
  read(matched, true);
  return matched.traced ? nb::object(nb::none()) : run(matched);
}

nb::object KernelObject::call_into(nb::handle out, const nb::args& values) {
  Arguments matched(*this);
  matched.out = nb::borrow(out);
  matched.torch = TorchState::inside();
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    matched.values[i] = PyTuple_GetItem(values.ptr(), static_cast<Py_ssize_t>(i));
  read(matched, true);
  return run(matched);
}

nb::object KernelObject::run(Arguments& matched) {
  const Tensor* like = matched.like();
  DLDevice device{kDLCPU, 0};
  Tensor first;  // decides where a program without inputs runs
  if (like == nullptr && first_result(matched.out, first, matched.torch)) {
    like = &first;
    device = first.view().device;
    matched.key.add(device.device_type);
    matched.key.add(device.device_id);
  }
  const std::shared_ptr<BoundCall> call =
      bound(matched.key, matched.views.data(), matched.views.size(), matched.scalars, matched.dims, device);
  return launch(call, {matched.inputs.data(), matched.inputs.size()}, matched.out, like, matched.torch);
}

nb::list KernelObject::ordered(const nb::args& arguments, const nb::kwargs& named) {
  Arguments matched(*this);
  match(arguments.ptr(), named.ptr(), matched);
  nb::list values;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (matched.values[i] == nullptr) type_error(name() + "() lacks a value for '" + parameters_[i].name + "'");
    values.append(nb::handle(matched.values[i]));
  }
  return values;
}

}  // namespace padlock::python
