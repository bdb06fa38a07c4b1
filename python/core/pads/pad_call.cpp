#include "python/core/pads/pad_call.h"

#include <map>
#include <string>
#include <utility>

#include "python/core/kernel.h"
#include "python/core/launch.h"
#include "python/core/pads/pad_check.h"

namespace padlock::python {
namespace {

/// The programs and calls of eager pads in this process: programs by their texts, calls by all that they depend on.
struct Eager {
  std::map<std::string, std::unique_ptr<KernelObject>> kernels;
  CallCache calls{1024};
  std::uint64_t generation = 0;
};

Eager& eager() {
  static auto& kept = *new Eager();
  if (kept.generation != process_generation()) {
    kept.calls = CallCache(1024);
    kept.generation = process_generation();
  }
  return kept;
}

std::int64_t amount_of(PyObject* item, const char* what) {
  const std::int64_t amount = PyLong_AsLongLong(item);
  if (amount != -1 || PyErr_Occurred() == nullptr) return amount;
  PyErr_Clear();
  fail(PADLOCK_INVALID_ARGUMENT,
       std::string(what) + ": expected an integer of 64 bits, found " + nb::repr(nb::handle(item)).c_str());
}

PadLayout layout_of(const Tensor& x, int axes, int parts) {
  if (x.is_dense()) return PadLayout::dense;
  const DLTensor& view = x.view();
  const bool rows = axes > 0 && (view.strides[axes - 1] == parts || view.shape[axes - 1] == 1);
  return rows ? PadLayout::dense_rows : PadLayout::strided;
}

std::shared_ptr<BoundCall> bind(Tensor& x, const PadRequest& request, const CallKey& key) {
  check_request(x, request);
  const DLDataType type = x.view().dtype;
  const int axes = x.view().ndim;
  PadKind kind{.type = carrier(type), .axes = axes, .halves = type.bits == 128};
  const bool constant = request.mode == PadMode::constant;
  kind.two_fills = kind.halves && constant && request.fill.low != request.fill.high;
  x.reinterpret(kind.type);
  kind.layout = layout_of(x, axes, kind.halves ? 2 : 1);
  std::string text = pad_text(request, kind);
  std::unique_ptr<KernelObject>& kernel = eager().kernels[text];
  if (!kernel) kernel = std::make_unique<KernelObject>(text, std::vector<std::string>(), "", false);
  std::vector<std::uint64_t> scalars;
  if (constant) scalars.push_back(request.fill.low);
  if (kind.two_fills) scalars.push_back(request.fill.high);
  std::vector<padlock_named_value> dims;
  for (const Parameter& parameter : kernel->parameters()) {
    if (parameter.kind != PADLOCK_DIM) continue;
    const auto axis = static_cast<std::size_t>(std::stoi(parameter.name.substr(1)));
    dims.push_back({parameter.name.c_str(), parameter.name[0] == 'l' ? request.low[axis] : request.high[axis]});
  }
  const DLTensor* const input = &x.view();
  const std::shared_ptr<BoundCall> bound = kernel->bound(key, &input, 1, scalars, dims);
  bound->results[0].type = type;
  bound->results[0].extents.resize(static_cast<std::size_t>(axes));
  return bound;
}

CallKey key_of(const Tensor& x, const PadRequest& request) {
  CallKey key;
  key.add(x.view());
  key.add(static_cast<std::int64_t>(request.mode) | static_cast<std::int64_t>(request.interior.size()) << 8);
  for (const std::int64_t amount : request.low) key.add(amount);
  for (const std::int64_t amount : request.high) key.add(amount);
  for (const std::int64_t amount : request.interior) key.add(amount);
  key.add(static_cast<std::int64_t>(request.fill.low));
  key.add(static_cast<std::int64_t>(request.fill.high));
  return key;
}

}  // namespace

std::optional<PadMode> known_mode(nb::handle text, std::span<ModeName> names) {
  for (ModeName& known : names) {
    if (known.key == nullptr) known.key = PyUnicode_InternFromString(known.name);
    if (known.key == text.ptr()) return known.mode;
  }
  for (const ModeName& known : names)
    if (PyUnicode_Check(text.ptr()) && PyUnicode_CompareWithASCIIString(text.ptr(), known.name) == 0) return known.mode;
  return std::nullopt;
}

/// Returns whether the text is another library's name of that mode.
static bool is_other_name(nb::handle text, const ModeName& known) {
  const auto is = [&](const char* name) { return PyUnicode_CompareWithASCIIString(text.ptr(), name) == 0; };
  return (known.mode == PadMode::edge && (is("replicate") || is("edge"))) ||
         (known.mode == PadMode::wrap && (is("circular") || is("wrap")));
}

PadMode mode_of(nb::handle text, std::span<ModeName> names) {
  if (const std::optional<PadMode> known = known_mode(text, names)) return *known;
  std::string message = "expected the mode";
  for (const ModeName& known : names) message += std::string(&known == names.data() ? " " : ", ") + known.name;
  message += std::string(", found ") + nb::repr(text).c_str();
  for (const ModeName& known : names)
    if (PyUnicode_Check(text.ptr()) && is_other_name(text, known))
      message += std::string("; write '") + known.name + "'";
  fail(PADLOCK_INVALID_ARGUMENT, message);
}

void read_amounts(nb::handle given, const char* what, Amounts& amounts) {
  if (PyTuple_Check(given.ptr())) {
    const Py_ssize_t count = PyTuple_Size(given.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) amounts.push_back(amount_of(PyTuple_GetItem(given.ptr(), i), what));
    return;
  }
  const nb::object items = nb::steal(PySequence_Tuple(given.ptr()));
  if (!items.is_valid()) {
    PyErr_Clear();
    fail(PADLOCK_INVALID_ARGUMENT,
         std::string(what) + ": expected a sequence of integers, found " + nb::repr(given).c_str());
  }
  read_amounts(items, what, amounts);
}

void check_elements(const Tensor& x) {
  const DLDataType type = x.view().dtype;
  if (can_move(type)) return;
  fail(PADLOCK_INVALID_ARGUMENT, "expected elements of a known type of 1 to 16 bytes, found DLPack's type code " +
                                     std::to_string(type.code) + " with " + std::to_string(type.bits) + " bits and " +
                                     std::to_string(type.lanes) + " lanes");
}

void check_count(const Amounts& amounts, int axes, const char* what) {
  if (std::cmp_equal(amounts.size(), axes)) return;
  fail(PADLOCK_INVALID_ARGUMENT, std::string(what) + ": expected " + std::to_string(axes) +
                                     " integers, one for each axis, found " + std::to_string(amounts.size()));
}

std::shared_ptr<BoundCall> call_for(Tensor& x, const PadRequest& request) {
  const CallKey key = key_of(x, request);
  std::shared_ptr<BoundCall> call = eager().calls.find(key);
  if (call) return call;
  call = bind(x, request, key);
  eager().calls.put(key, call);
  return call;
}

nb::object run_pad(Tensor& x, const PadRequest& request, nb::handle out, TorchState& torch) {
  const std::shared_ptr<BoundCall> call = call_for(x, request);
  Tensor* const input = &x;
  return launch(call, std::span(&input, 1), out, input, torch);
}

}  // namespace padlock::python
