#include "python/core/results.h"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/core/failure.h"
#include "python/core/tensors/element_type.h"
#include "python/core/tensors/numpy_array.h"

namespace padlock::python {
namespace {

std::string shape_text(std::span<const std::int64_t> extents) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    text += (axis > 0 ? ", " : "") + std::to_string(extents[axis]);
  return text + (extents.size() == 1 ? ",)" : ")");
}

const nb::object& shape_of(ResultShape& result) {
  if (result.shape.is_valid()) return result.shape;
  nb::list extents;
  for (const std::int64_t extent : result.extents) extents.append(extent);
  result.shape = nb::tuple(extents);
  return result.shape;
}

const nb::object& numpy_type_of(ResultShape& result) {
  if (result.numpy_type.is_valid()) return result.numpy_type;
  const std::string name = numpy_name(result.type);
  // NumPy knows the names of ml_dtypes' types only after importing it.
  if (result.type.code != kDLComplexCode && result.type.code > kDLFloat && result.type.code != kDLBool)
    nb::module_::import_("ml_dtypes");
  try {
    result.numpy_type = nb::module_::import_("numpy").attr("dtype")(name.c_str());
  } catch (const nb::python_error&) {
    fail(PADLOCK_INVALID_ARGUMENT, "expected elements that NumPy has, or 'out', found " + readable_name(result.type));
  }
  return result.numpy_type;
}

void* data_of_array(const nb::object& array) {
  if (const NumpyArray* const seen = numpy_array(array.ptr())) return seen->data;
  Py_buffer view{};
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_RECORDS_RO) == 0) {
    void* const data = view.buf;
    PyBuffer_Release(&view);
    return data;
  }
  PyErr_Clear();
  // NOLINTNEXTLINE(performance-no-int-to-ptr): Python's integers
  return reinterpret_cast<void*>(nb::cast<std::uintptr_t>(array.attr("ctypes").attr("data")));
}

/// Makes an array in memory that the kernel keeps.
Made make_kept(BoundCall& call, ResultShape& result) {
  static PyObject* const kAsArray = nb::module_::import_("numpy").attr("asarray").inc_ref().ptr();
  auto block = call.memory->take(static_cast<std::size_t>(result.bytes), static_cast<std::size_t>(call.large_bytes));
  void* const data = block->data();
  const nb::object bytes = owned(PyObject_CallFunctionObjArgs(kAsArray, nb::cast(std::move(block)).ptr(), nullptr));
  return {bytes.attr("view")(numpy_type_of(result)).attr("reshape")(shape_of(result)), data};
}

bool is_kept(const BoundCall& call, const ResultShape& result) {
  return call.memory != nullptr && call.memory->is_on() && result.bytes >= ResultMemory::kLeastBytes;
}

Made make_numpy(BoundCall& call, ResultShape& result) {
  if (is_kept(call, result)) return make_kept(call, result);
  static PyObject* const kEmpty = nb::module_::import_("numpy").attr("empty").inc_ref().ptr();
  nb::object array =
      owned(PyObject_CallFunctionObjArgs(kEmpty, shape_of(result).ptr(), numpy_type_of(result).ptr(), nullptr));
  void* const data = data_of_array(array);
  return {std::move(array), data};
}

void set_error(void*, const char* kind, const char* message) {
  const nb::object named = nb::getattr(nb::builtins(), kind, nb::object());
  PyErr_SetString(named.is_valid() && PyExceptionClass_Check(named.ptr()) ? named.ptr() : PyExc_RuntimeError, message);
}

/// A tensor of torch's in kept memory, for the exchange table of its library.
struct KeptTensor {
  DLManaged managed{};
  std::unique_ptr<ResultMemory::Block> block;
  std::vector<std::int64_t> extents, strides;
};

void delete_kept(DLManaged* managed) { delete static_cast<KeptTensor*>(managed->context); }

std::unique_ptr<KeptTensor> kept_tensor(BoundCall& call, const ResultShape& result) {
  auto made = std::make_unique<KeptTensor>();
  made->block = call.memory->take(static_cast<std::size_t>(result.bytes), static_cast<std::size_t>(call.large_bytes));
  made->extents = result.extents;
  made->strides.assign(result.extents.size(), 1);
  for (std::size_t axis = result.extents.size(); axis-- > 1;)
    made->strides[axis - 1] = made->strides[axis] * result.extents[axis];
  made->managed = {.version = {kDLMajor, 0}, .context = made.get(), .deleter = delete_kept, .flags = 0, .tensor = {}};
  DLTensor& tensor = made->managed.tensor;
  tensor.data = made->block->data();
  tensor.device = {kDLCPU, 0};
  tensor.dtype = result.type;
  tensor.ndim = static_cast<std::int32_t>(result.extents.size());
  tensor.shape = made->extents.data();
  tensor.strides = made->strides.data();
  return made;
}

Made make_kept_tensor(BoundCall& call, const ResultShape& result, const Tensor& like) {
  std::unique_ptr<KeptTensor> kept = kept_tensor(call, result);
  void* const data = kept->block->data();
  void* object = nullptr;
  check_python(like.family().table->to_object(&kept->managed, &object) == 0);
  static_cast<void>(kept.release());  // the tensor owns it now
  return {nb::steal(static_cast<PyObject*>(object)), data};
}

Made make_by_table(ResultShape& result, const Tensor& like) {
  DLTensor prototype{};
  prototype.device = like.view().device;
  prototype.dtype = result.type;
  prototype.ndim = static_cast<std::int32_t>(result.extents.size());
  prototype.shape = result.extents.data();
  const DLExchange& table = *like.family().table;
  DLManaged* managed = nullptr;
  void* object = nullptr;
  check_python(table.allocate(&prototype, &managed, nullptr, set_error) == 0);
  check_python(managed != nullptr);
  const DLTensor& tensor = managed->tensor;
  char* const data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  const bool is_as_asked =
      tensor.ndim == prototype.ndim && tensor.dtype.code == prototype.dtype.code &&
      tensor.dtype.bits == prototype.dtype.bits && tensor.dtype.lanes == 1 &&
      (tensor.data != nullptr || result.bytes == 0) &&
      (tensor.ndim == 0 || std::ranges::equal(result.extents, std::span(tensor.shape, result.extents.size())));
  if (!is_as_asked || table.to_object(managed, &object) != 0) {
    if (managed->deleter != nullptr) managed->deleter(managed);
    raise_python();
  }
  check_python(object != nullptr);
  return {nb::steal(static_cast<PyObject*>(object)), data};
}

Made make_by_torch(BoundCall& call, ResultShape& result, const Tensor& like) {
  if (is_on_host(like.view()) && is_kept(call, result)) return make_kept_tensor(call, result, like);
  return make_by_table(result, like);
}

/// Makes a result by the array API: host memory is lent to the library; on a GPU it is the library's own.
Made make_by_namespace(BoundCall& call, ResultShape& result, const Tensor& like) {
  const nb::handle input(like.object());
  if (!is_on_host(like.view())) {
    // CuPy's module has the array API's functions, but its arrays do not name it.
    const nb::object space =
        like.family().is_cupy ? nb::object(nb::module_::import_("cupy")) : input.attr("__array_namespace__")();
    const nb::object made = space.attr("empty")(shape_of(result), nb::arg("dtype") = input.attr("dtype"));
    TorchState torch;
    Tensor view;
    view.read(made.ptr(), torch);
    return {made, view.data()};
  }
  return make_numpy(call, result);
}

}  // namespace

Made make_result(BoundCall& call, std::size_t index, const Tensor* like) {
  ResultShape& result = call.results[index];
  if (like == nullptr) return make_numpy(call, result);
  switch (like->family().reader) {
    case Reader::torch:
      return make_by_torch(call, result, *like);
    case Reader::table:
      return make_by_table(result, *like);
    case Reader::dlpack:
      return make_by_namespace(call, result, *like);
    default:
      return make_numpy(call, result);
  }
}

void check_given(const ResultShape& shape, const Tensor& given, const Tensor* like) {
  const DLTensor& view = given.view();
  const auto refuse = [](const std::string& message, int axis = -1) {
    fail(PADLOCK_INVALID_ARGUMENT, "out: " + message, axis);
  };
  if (view.dtype.code != shape.type.code || view.dtype.bits != shape.type.bits)
    refuse("expected elements of " + readable_name(shape.type) + ", found " + readable_name(view.dtype));
  if (!std::ranges::equal(shape.extents, std::span(view.shape, static_cast<std::size_t>(view.ndim))))
    refuse("expected the shape " + shape_text(shape.extents) + ", found " +
           shape_text({view.shape, static_cast<std::size_t>(view.ndim)}));
  const bool on_host = like != nullptr && is_on_host(view) && is_on_host(like->view());
  if (like != nullptr && !on_host &&
      (view.device.device_type != like->view().device.device_type ||
       view.device.device_id != like->view().device.device_id))
    refuse("expected a tensor on the inputs' device, found another device");
  if (given.read_only()) refuse("expected a tensor that can be written, found a read-only one");
  if (!given.is_dense()) refuse("expected a dense, row-major tensor, found one with other strides");
}

}  // namespace padlock::python
