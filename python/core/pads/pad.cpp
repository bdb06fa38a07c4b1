#include "python/core/pads/pad.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "python/core/call_cache.h"
#include "python/core/launch.h"
#include "python/core/pads/pad_call.h"
#include "python/core/tensors/numpy_array.h"

namespace padlock::python {
namespace {

/// Returns whether programs can express the strides: whole elements, and not negative.
bool can_be_strided(const Tensor& x) {
  if (!x.has_whole_strides()) return false;
  const DLTensor& view = x.view();
  for (int axis = 0; view.strides != nullptr && axis < view.ndim; ++axis)
    if (view.strides[axis] < 0 && view.shape[axis] > 1) return false;
  return true;
}

/// The modes by the language's names, which are also NumPy's.
std::span<ModeName> language_modes() {
  static auto modes = std::to_array<ModeName>({{"constant", PadMode::constant},
                                               {"edge", PadMode::edge},
                                               {"reflect", PadMode::reflect},
                                               {"symmetric", PadMode::symmetric},
                                               {"wrap", PadMode::wrap}});
  return modes;
}

/// Reads a width that is an int that programs take. Returns false for anything else.
bool read_one(PyObject* item, std::int64_t& amount) {
  if (!PyLong_CheckExact(item)) return false;
  amount = PyLong_AsLongLong(item);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();  // beyond 64 bits: the amount is -1
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  return amount >= 0 && amount <= kMost;
}

/// Reads NumPy's widths, as ints or tuples of them: n, (n,), (before, after), or one pair for each axis. Returns false
/// for other forms that NumPy takes.
bool read_width(PyObject* width, int axes, PadRequest& request) {
  std::int64_t low = 0, high = 0;
  const auto is_pair = [&](PyObject* pair) {
    return PyTuple_CheckExact(pair) && PyTuple_Size(pair) == 2 && read_one(PyTuple_GetItem(pair, 0), low) &&
           read_one(PyTuple_GetItem(pair, 1), high);
  };
  if (read_one(width, low) || is_pair(width)) {
    if (!PyTuple_CheckExact(width)) high = low;
    request.low.assign(static_cast<std::size_t>(axes), low);
    request.high.assign(static_cast<std::size_t>(axes), high);
    return true;
  }
  if (!PyTuple_CheckExact(width) || PyTuple_Size(width) != axes) return false;
  for (Py_ssize_t axis = 0; axis < axes; ++axis) {
    if (!is_pair(PyTuple_GetItem(width, axis))) return false;
    request.low.push_back(low);
    request.high.push_back(high);
  }
  return true;
}

/// Copies a tensor with strides that programs cannot express, negative or not whole elements, into an array of NumPy's.
/// For other libraries it copies the memory that was read already: an exporter may answer a second request differently.
nb::object dense_copy(const Tensor& x) {
  nb::object from = nb::borrow(x.object());
  if (!is_on_host(x.view()))
    fail(PADLOCK_INVALID_ARGUMENT, "expected strides of 0 and more of a GPU's tensor, found a negative one");
  if (x.family().reader != Reader::numpy)
    from = nb::module_::import_("types").attr("SimpleNamespace")(nb::arg("__array_interface__") = x.array_interface());
  return nb::module_::import_("numpy").attr("array")(from, nb::arg("order") = "C");
}

/// An argument that programs can take: the tensor itself, or a copy.
class Source {
 public:
  /// Returns false if torch's dispatcher must see it first. Errors: those of Tensor::read, and for elements that do not
  /// move as bits.
  bool read(nb::handle given, TorchState& torch) {
    if (!first_.read(given.ptr(), torch)) return false;
    check_elements(first_);
    if (can_be_strided(first_)) return true;
    copy_ = dense_copy(first_);
    tensor_ = &second_;
    second_.read(copy_.ptr(), torch);
    second_.set_type(first_.view().dtype);
    return true;
  }
  [[nodiscard]] Tensor& tensor() { return *tensor_; }

 private:
  nb::object copy_;
  Tensor first_, second_;
  Tensor* tensor_ = &first_;
};

/// Applies the negative amounts of a circular pad first: torch wraps what is left.
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
  Source source;
  if (!source.read(given, torch)) return traced(given, low, high, mode, value, interior, out);
  Tensor* const x = &source.tensor();
  PadRequest request;
  request.mode = mode_of(mode, language_modes());
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
  return run_pad(*x, request, out, torch);
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
  Source source;
  if (!source.read(given, torch))
    return nb::module_::import_("padlock.torch").attr("pad_traced_pairs")(given, amounts, mode, value, out);
  Tensor& x = source.tensor();
  PadRequest request;
  request.mode = mode_of(mode, modes);
  Amounts pairs;
  read_amounts(amounts, "pad", pairs);
  const auto axes = static_cast<std::size_t>(x.view().ndim);
  if (pairs.size() % 2 != 0 || pairs.size() / 2 > axes)
    fail(PADLOCK_INVALID_ARGUMENT, "pad: expected pairs, at most one for each of " + std::to_string(axes) +
                                       " axes, found " + std::to_string(pairs.size()) + " integers");
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
  return run_pad(x, request, out, torch);
}

nb::object pad_like_numpy(nb::handle given, nb::handle width, nb::handle mode, nb::handle out) {
  const Family& family = family_of(given.ptr());
  const NumpyArray* const array = family.reader == Reader::numpy ? numpy_array(given.ptr()) : nullptr;
  if (array == nullptr || array->rank == 0 || (array->is_column_major() && out.is_none())) return nb::none();
  PadRequest request;
  const std::optional<PadMode> known = known_mode(mode, language_modes());
  if (!known || !read_width(width.ptr(), array->rank, request)) return nb::none();
  request.mode = *known;
  const bool is_empty = std::ranges::count(std::span(array->extents, static_cast<std::size_t>(array->rank)), 0) > 0;
  if (is_empty && request.mode != PadMode::constant) return nb::none();
  Tensor x;
  TorchState torch;
  x.read(given.ptr(), torch);
  if (!can_be_strided(x)) return nb::none();
  return run_pad(x, request, out, torch);
}

void pad_to(const DLTensor& given, std::span<const std::int64_t> low, std::span<const std::int64_t> high,
            std::string_view mode, Bits fill, void* to, std::span<const std::int64_t> extents, void* stream) {
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
  launch_memory(*call, &from, 1, &to, stream);
}

}  // namespace padlock::python
