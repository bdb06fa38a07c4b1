#include "python/core/pad.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "python/core/kernel.h"
#include "python/core/launch.h"
#include "python/core/pad_program.h"

namespace padlock::python {
namespace {

/// What a process keeps for eager pads: programs by their texts, and calls by all that they depend on.
struct Eager {
  std::map<std::string, std::unique_ptr<KernelObject>> kernels;
  CallCache calls{1024};
  std::uint64_t generation = 0;
};

Eager& eager() {
  static auto& kept = *new Eager();
  if (kept.generation != process_generation()) {
    leak(std::exchange(kept.calls, CallCache(1024)));
    kept.generation = process_generation();
  }
  return kept;
}

struct ModeName {
  const char* name;
  PadMode mode;
  PyObject* key = nullptr;
};

PadMode mode_of(nb::handle text, std::span<ModeName> names) {
  for (ModeName& known : names) {
    if (known.key == nullptr) known.key = PyUnicode_InternFromString(known.name);
    if (known.key == text.ptr()) return known.mode;
  }
  for (const ModeName& known : names)
    if (PyUnicode_Check(text.ptr()) && PyUnicode_CompareWithASCIIString(text.ptr(), known.name) == 0) return known.mode;
  std::string message = "expected the mode";
  for (const ModeName& known : names) message += std::string(&known == names.data() ? " " : ", ") + known.name;
  fail(PADLOCK_INVALID_ARGUMENT, message + ", found " + nb::repr(text).c_str());
}

std::int64_t amount_of(PyObject* item, const char* what) {
  const std::int64_t amount = PyLong_AsLongLong(item);
  if (amount != -1 || PyErr_Occurred() == nullptr) return amount;
  PyErr_Clear();
  fail(PADLOCK_INVALID_ARGUMENT,
       std::string(what) + ": expected an integer of 64 bits, found " + nb::repr(nb::handle(item)).c_str());
}

/// Integers of a tuple or any other sequence.
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

void check_count(const Amounts& amounts, int axes, const char* what) {
  if (std::cmp_equal(amounts.size(), axes)) return;
  fail(PADLOCK_INVALID_ARGUMENT, std::string(what) + ": expected " + std::to_string(axes) +
                                     " integers, one an axis, found " + std::to_string(amounts.size()));
}

/// Whether programs can say how the elements lie: strides that are whole and not negative.
bool can_be_strided(const Tensor& x) {
  if (!x.has_whole_strides()) return false;
  const DLTensor& view = x.view();
  for (int axis = 0; view.strides != nullptr && axis < view.ndim; ++axis)
    if (view.strides[axis] < 0 && view.shape[axis] > 1) return false;
  return true;
}

PadLayout layout_of(const Tensor& x, int axes, int parts) {
  if (x.is_dense()) return PadLayout::dense;
  const DLTensor& view = x.view();
  const bool rows = axes > 0 && (view.strides[axes - 1] == parts || view.shape[axes - 1] == 1);
  return rows ? PadLayout::dense_rows : PadLayout::strided;
}

std::shared_ptr<BoundCall> bind(Tensor& x, const PadRequest& request, const CallKey& key) {
  const DLDataType type = x.view().dtype;
  const int axes = x.view().ndim;
  if (!can_move(type))
    fail(PADLOCK_INVALID_ARGUMENT, "expected elements of 1 to 16 bytes, found DLPack's type code " +
                                       std::to_string(type.code) + " with " + std::to_string(type.bits) + " bits");
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

std::shared_ptr<BoundCall> call_for(Tensor& x, const PadRequest& request) {
  const CallKey key = key_of(x, request);
  std::shared_ptr<BoundCall> call = eager().calls.find(key);
  if (call) return call;
  call = bind(x, request, key);
  eager().calls.put(key, call);
  return call;
}

nb::object run(Tensor& x, const PadRequest& request, nb::handle out, TorchState& torch) {
  const std::shared_ptr<BoundCall> call = call_for(x, request);
  Tensor* const input = &x;
  return launch(call, std::span(&input, 1), out, input, torch);
}

nb::object dense_copy(nb::handle array) {
  return nb::module_::import_("numpy").attr("array")(array, nb::arg("order") = "C");
}

/// Cuts off what negative amounts of a circular pad cut: torch wraps what is left.
void crop(Tensor& x, PadRequest& request) {
  for (int axis = 0; axis < x.view().ndim; ++axis) {
    std::int64_t &low = request.low[static_cast<std::size_t>(axis)],
                 &high = request.high[static_cast<std::size_t>(axis)];
    if ((low < 0) == (high < 0) || low == 0 || high == 0) continue;
    std::int64_t& cut = low < 0 ? low : high;
    x.narrow(axis, low < 0 ? -low : 0, x.view().shape[axis] + cut);
    cut = 0;
  }
}

nb::object int_like_torch(nb::handle value, DLDataType type) {
  const bool whole = type.code == kDLInt || type.code == kDLUInt;
  return whole && PyFloat_Check(value.ptr()) != 0 ? owned(PyNumber_Long(value.ptr())) : nb::borrow(value);
}

nb::object traced(nb::handle x, nb::handle low, nb::handle high, nb::handle mode, nb::handle value, nb::handle interior,
                  nb::handle out) {
  return nb::module_::import_("padlock.torch").attr("pad_traced")(x, low, high, mode, value, interior, out);
}

nb::object pad_by(TorchState torch, nb::handle given, nb::handle low, nb::handle high, nb::handle mode,
                  nb::handle value, nb::handle interior, nb::handle out) {
  static auto modes = std::to_array<ModeName>({{"constant", PadMode::constant},
                                               {"edge", PadMode::edge},
                                               {"reflect", PadMode::reflect},
                                               {"symmetric", PadMode::symmetric},
                                               {"wrap", PadMode::wrap}});
  Tensor first, second;
  Tensor* x = &first;
  nb::object copy;
  if (!x->read(given.ptr(), torch)) return traced(given, low, high, mode, value, interior, out);
  if (!can_be_strided(*x)) {
    copy = dense_copy(given);
    x = &second;
    x->read(copy.ptr(), torch);
  }
  PadRequest request;
  request.mode = mode_of(mode, modes);
  const int axes = x->view().ndim;
  read_amounts(low, "low", request.low);
  read_amounts(high, "high", request.high);
  check_count(request.low, axes, "low");
  check_count(request.high, axes, "high");
  if (!interior.is_none()) {
    read_amounts(interior, "interior", request.interior);
    check_count(request.interior, axes, "interior");
  }
  if (request.mode == PadMode::constant)
    request.fill = bits_of(value, x->view().dtype);
  else if (!value.is_none() || !request.interior.empty())
    fail(PADLOCK_INVALID_ARGUMENT, "value and interior are for the mode constant alone");
  return run(*x, request, out, torch);
}

}  // namespace

nb::object pad(nb::handle x, nb::handle low, nb::handle high, nb::handle mode, nb::handle value, nb::handle interior,
               nb::handle out) {
  return pad_by(TorchState(), x, low, high, mode, value, interior, out);
}

nb::object pad_memory(nb::handle x, nb::handle low, nb::handle high, nb::handle mode, nb::handle value,
                      nb::handle interior, nb::handle out) {
  return pad_by(TorchState::inside(), x, low, high, mode, value, interior, out);
}

nb::object pad_like_torch(nb::handle given, nb::handle amounts, nb::handle mode, nb::handle value, nb::handle out) {
  static auto modes = std::to_array<ModeName>({{"constant", PadMode::constant},
                                               {"replicate", PadMode::edge},
                                               {"reflect", PadMode::reflect},
                                               {"symmetric", PadMode::symmetric},
                                               {"circular", PadMode::wrap}});
  TorchState torch;
  Tensor x;
  if (!x.read(given.ptr(), torch))
    return nb::module_::import_("padlock.torch").attr("pad_traced_pairs")(given, amounts, mode, value, out);
  PadRequest request;
  request.mode = mode_of(mode, modes);
  Amounts pairs;
  read_amounts(amounts, "pad", pairs);
  const auto axes = static_cast<std::size_t>(x.view().ndim);
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > axes)
    fail(PADLOCK_INVALID_ARGUMENT, "pad: expected pairs, at most one an axis of " + std::to_string(axes) + ", found " +
                                       std::to_string(pairs.size()) + " integers");
  request.low.assign(axes, 0);
  request.high.assign(axes, 0);
  for (std::size_t i = 0; i < pairs.size() / 2; ++i) {
    request.low[axes - 1 - i] = pairs[2 * i];
    request.high[axes - 1 - i] = pairs[2 * i + 1];
  }
  if (request.mode == PadMode::constant)
    request.fill = bits_of(int_like_torch(value, x.view().dtype), x.view().dtype);
  else if (!value.is_none())
    fail(PADLOCK_INVALID_ARGUMENT, "value is for the mode constant alone");
  if (request.mode == PadMode::wrap) crop(x, request);
  return run(x, request, out, torch);
}

void pad_to(const DLTensor& given, std::span<const std::int64_t> low, std::span<const std::int64_t> high,
            std::string_view mode, Bits fill, void* to, std::span<const std::int64_t> extents) {
  constexpr std::array kNames = {"constant", "edge", "reflect", "symmetric", "wrap"};
  Tensor x;
  x.set(given);
  PadRequest request;
  request.mode = static_cast<PadMode>(std::ranges::find(kNames, mode) - kNames.begin());
  if (static_cast<std::size_t>(request.mode) == kNames.size())
    fail(PADLOCK_INVALID_ARGUMENT, "expected a mode, found '" + std::string(mode) + "'");
  for (const std::int64_t amount : low) request.low.push_back(amount);
  for (const std::int64_t amount : high) request.high.push_back(amount);
  check_count(request.low, given.ndim, "low");
  check_count(request.high, given.ndim, "high");
  request.fill = fill;
  const std::shared_ptr<BoundCall> call = call_for(x, request);
  if (!std::ranges::equal(call->results[0].extents, extents))
    fail(PADLOCK_INVALID_ARGUMENT, "expected a result of other extents than the call's");
  void* from = x.data();
  launch_memory(*call, &from, 1, &to, nullptr);
}

}  // namespace padlock::python
