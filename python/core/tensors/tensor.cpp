#include "python/core/tensors/tensor.h"

#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "python/core/failure.h"
#include "python/core/tensors/element_type.h"
#include "python/core/tensors/numpy_array.h"

namespace padlock::python {
namespace {

/// Takes a managed tensor out of its capsule, which then does not delete it.
template <class Managed>
Managed* take(const nb::object& capsule, const char* name, const char* used) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  check_python(managed != nullptr && PyCapsule_SetName(capsule.ptr(), used) == 0);
  return managed;
}

/// Asks a producer for its tensor's device type, in DLPack's numbers.
int device_type_of(const nb::handle producer) {
  const nb::object device = producer.attr("__dlpack_device__")();
  const nb::object number = nb::steal(PySequence_GetItem(device.ptr(), 0));
  const long long type = number.is_valid() ? PyLong_AsLongLong(number.ptr()) : -1;
  if (PyErr_Occurred() == nullptr && type >= 0 && type <= std::numeric_limits<std::int32_t>::max())
    return static_cast<int>(type);
  PyErr_Clear();
  fail(PADLOCK_INVALID_ARGUMENT,
       std::string("expected __dlpack_device__() to return two integers, found ") + nb::repr(device).c_str());
}

/// Errors: InvalidArgument for a torch tensor without elements at strides: a nested, quantized or sparse one.
void refuse_layout(const nb::handle tensor) {
  for (const auto& [flag, kind] : {std::pair{"is_nested", "a nested one: pad each tensor of its unbind()"},
                                   std::pair{"is_quantized", "a quantized one: pad its int_repr()"}})
    if (nb::getattr(tensor, flag, nb::none()).is(nb::bool_(true)))
      fail(PADLOCK_INVALID_ARGUMENT, std::string("expected a tensor of dense memory, found ") + kind);
  const nb::object layout = nb::getattr(tensor, "layout", nb::none());
  const std::string name = layout.is_none() ? "torch.strided" : nb::str(layout).c_str();
  if (name != "torch.strided")
    fail(PADLOCK_INVALID_ARGUMENT, "expected a tensor of dense memory, found one of the layout " + name +
                                       ": pad its to_dense(), or its values by themselves");
}

/// Returns what elements of an unsupported buffer format are, for a message.
std::string elements_of_format(std::string_view format) {
  const char kind = format.empty() ? '\0' : format.back();
  return std::string(kind == 'O'                  ? "Python objects"
                     : kind == 'w' || kind == 's' ? "text"
                     : format.starts_with("T{")   ? "records"
                                                  : "elements") +
         " (the buffer format " + quoted(std::string(format).c_str()) + ")";
}

/// The default stream (CUDA's NULL) in DLPack's numbers.
constexpr std::uintptr_t kDefaultStream = 1;

/// Asks a producer without a table for its capsule; on a GPU, for one that is ready on the stream that will read it.
nb::object capsule_of(PyObject* object, bool on_gpu, void* read_on) {
  const nb::handle producer(object);
  const auto number = read_on != nullptr ? reinterpret_cast<std::uintptr_t>(read_on) : kDefaultStream;
  const nb::object stream = on_gpu ? nb::object(nb::int_(number)) : nb::object(nb::none());
  try {
    return producer.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 3), nb::arg("stream") = stream,
                                       nb::arg("copy") = false);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return on_gpu ? producer.attr("__dlpack__")(nb::arg("stream") = stream) : producer.attr("__dlpack__")();
}

}  // namespace

Tensor::~Tensor() {
  if (buffer_.obj != nullptr) PyBuffer_Release(&buffer_);
  if (managed_ != nullptr && managed_->deleter != nullptr) managed_->deleter(managed_);
  if (unversioned_ != nullptr && unversioned_->deleter != nullptr) unversioned_->deleter(unversioned_);
}

bool Tensor::read(PyObject* object, TorchState& torch) {
  if (read_unless_traced(object, torch)) return true;
  if (!torch.is_inside()) return false;
  fail(PADLOCK_INVALID_ARGUMENT,
       std::string("expected a tensor of plain memory, found ") + nb::type_name(nb::handle(Py_TYPE(object))).c_str());
}

bool Tensor::read_unless_traced(PyObject* object, TorchState& torch) {
  object_ = object;
  family_ = &family_of(object);
  switch (family_->reader) {
    case Reader::traced:
      return false;
    case Reader::torch:
      if (family_->table->view_of(object, &view_) != 0) {
        PyErr_Clear();  // a meta or wrapped tensor: torch's message explains it
        refuse_layout(object);
        return false;
      }
      return torch.is_plain(object, view_);
    case Reader::table:
      read_table();
      break;
    case Reader::numpy:
      read_numpy();
      break;
    case Reader::dlpack:
      read_capsule();
      break;
    case Reader::buffer:
      read_buffer(object);
      break;
    case Reader::none:
      fail(PADLOCK_INVALID_ARGUMENT,
           std::string("expected a tensor, found ") + nb::type_name(nb::handle(Py_TYPE(object))).c_str());
  }
  check_view();
  return true;
}

/// Refuses impossible tensors: some libraries leave these fields empty when they lend memory.
void Tensor::check_view() const {
  if (view_.ndim < 0 || view_.ndim > kMaxAxes)
    fail(PADLOCK_INVALID_ARGUMENT,
         "expected at most " + std::to_string(kMaxAxes) + " axes, found " + std::to_string(view_.ndim));
  if (view_.ndim > 0 && view_.shape == nullptr)
    fail(PADLOCK_INVALID_ARGUMENT,
         "expected the extents of " + std::to_string(view_.ndim) + " axes, found a tensor without them");
  bool has_elements = true;
  for (int axis = 0; axis < view_.ndim; ++axis) {
    if (view_.shape[axis] < 0)
      fail(PADLOCK_INVALID_ARGUMENT, "expected extents of 0 and more, found " + std::to_string(view_.shape[axis]) +
                                         " for axis " + std::to_string(axis));
    has_elements = has_elements && view_.shape[axis] > 0;
  }
  if (!has_elements) return;
  if (view_.data == nullptr)
    fail(PADLOCK_INVALID_ARGUMENT, "expected a tensor in memory, found one without an address");
  check_span();
}

/// Refuses a span larger than the address space, so that no later product or sum wraps.
void Tensor::check_span() const {
  const std::int64_t bytes_each = (std::int64_t{view_.dtype.bits} * view_.dtype.lanes + 7) / 8;
  std::int64_t bytes = bytes_each, span = 0;
  bool fits = true;
  for (int axis = 0; axis < view_.ndim; ++axis) {
    const std::int64_t extent = view_.shape[axis];
    fits = fits && !__builtin_mul_overflow(bytes, extent, &bytes);
    if (extent == 1 || view_.strides == nullptr) continue;
    std::int64_t reach = view_.strides[axis];
    fits = fits && reach != std::numeric_limits<std::int64_t>::min() &&
           !__builtin_mul_overflow(reach < 0 ? -reach : reach, (extent - 1) * bytes_each, &reach) &&
           !__builtin_add_overflow(span, reach, &span);
  }
  if (!fits)
    fail(PADLOCK_INVALID_ARGUMENT, "expected extents and strides that fit 64 bits, found a tensor beyond all memory");
}

void Tensor::read_table() { check_python(family_->table->view_of(object_, &view_) == 0); }

void Tensor::read_numpy() {
  if (const NumpyArray* const array = numpy_array(object_)) {
    view_.dtype = type_of(*array);
    read_only_ = !array->is_writeable();
    return describe(array->data, array->rank, array->extents, array->strides);
  }
  if (PyObject_GetBuffer(object_, &buffer_, PyBUF_RECORDS_RO) == 0) return read_buffer(object_);
  PyErr_Clear();
  // Buffers have no letter for types such as ml_dtypes' bfloat16, but one for their bits.
  const nb::handle array(object_);
  const std::string name = nb::cast<std::string>(array.attr("dtype").attr("name"));
  const DLDataType type = bits_type_named(name);
  if (type.bits == 0) fail(PADLOCK_INVALID_ARGUMENT, "expected elements that programs have, found numpy's " + name);
  bits_ = array.attr("view")("u" + std::to_string(type.bits / 8));
  read_buffer(bits_.ptr());
  view_.dtype = type;
}

void Tensor::read_buffer(PyObject* object) {
  if (buffer_.obj == nullptr && PyObject_GetBuffer(object, &buffer_, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    const std::string name = nb::type_name(nb::handle(Py_TYPE(object))).c_str();
    const bool is_sparse = nb::hasattr(object, "todense") || nb::hasattr(object, "nnz");
    fail(PADLOCK_INVALID_ARGUMENT,
         is_sparse ? "expected a tensor of dense memory, found a sparse one, " + name + ": pad its todense()"
                   : "expected a tensor, found " + name +
                         (PyList_Check(object) || PyTuple_Check(object) ? "; numpy.asarray makes one" : ""));
  }
  view_.dtype = type_of_format(buffer_.format, buffer_.itemsize);
  if (view_.dtype.bits == 0)
    fail(PADLOCK_INVALID_ARGUMENT, "expected numbers or bools in this machine's byte order, found " +
                                       elements_of_format(buffer_.format != nullptr ? buffer_.format : "B"));
  read_only_ = buffer_.readonly != 0;
  // Refuses pointers inside the memory, and a length that differs from that of the extents.
  if (buffer_.suboffsets != nullptr)
    fail(PADLOCK_INVALID_ARGUMENT, "expected a buffer of elements, found one of pointers to them");
  describe(buffer_.buf, buffer_.ndim, buffer_.shape, buffer_.strides);
  std::int64_t bytes = buffer_.itemsize;
  for (int axis = 0; axis < view_.ndim && view_.ndim <= kMaxAxes && buffer_.shape != nullptr; ++axis)
    if (__builtin_mul_overflow(bytes, extents_[axis], &bytes)) bytes = -1;
  if (view_.ndim >= 0 && bytes != buffer_.len)
    fail(PADLOCK_INVALID_ARGUMENT, "expected a buffer of as many bytes as its elements have, " + std::to_string(bytes) +
                                       ", found " + std::to_string(buffer_.len));
}

/// Takes host memory by its element type and its strides in bytes; without strides it is dense.
void Tensor::describe(void* data, int ndim, const std::intptr_t* extents, const std::intptr_t* strides) {
  view_.data = data;
  view_.device = {kDLCPU, 0};
  view_.ndim = ndim;
  view_.shape = extents_.data();
  view_.strides = strides_.data();
  view_.byte_offset = 0;
  if (extents == nullptr) view_.shape = nullptr;
  if (ndim < 0 || ndim > kMaxAxes || extents == nullptr) return;
  const int bytes = view_.dtype.bits / 8;  // a power of two
  const int shift = std::countr_zero(static_cast<unsigned>(bytes));
  if (strides == nullptr) {
    std::int64_t dense = 1;
    for (int axis = ndim - 1; axis >= 0; --axis) {
      extents_[axis] = extents[axis];
      strides_[axis] = dense;
      if (__builtin_mul_overflow(dense, extents[axis], &dense)) dense = 0;
    }
    return;
  }
  for (int axis = 0; axis < ndim; ++axis) {
    extents_[axis] = extents[axis];
    strides_[axis] = strides[axis] >> shift;
    if ((strides[axis] & (bytes - 1)) != 0 && extents_[axis] > 1) whole_strides_ = false;
  }
}

void Tensor::read_capsule() {
  const nb::handle producer(object_);
  const int named = device_type_of(producer);
  const bool on_gpu = named == kDLCUDA || named == kDLCUDAManaged;
  if (on_gpu && family_->is_cupy)
    stream_ = reinterpret_cast<void*>(  // NOLINT(performance-no-int-to-ptr): Python's integers
        nb::cast<std::uintptr_t>(nb::module_::import_("cupy.cuda").attr("get_current_stream")().attr("ptr")));
  const nb::object capsule = capsule_of(object_, on_gpu, stream_);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    managed_ = take<DLManaged>(capsule, "dltensor_versioned", "used_dltensor_versioned");
    if (managed_->version.major != kDLMajor)
      fail(PADLOCK_INVALID_ARGUMENT, "expected DLPack 1.x, found version " + std::to_string(managed_->version.major));
    view_ = managed_->tensor;
    read_only_ = (managed_->flags & kDLReadOnly) != 0;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) {
    unversioned_ = take<DLManagedUnversioned>(capsule, "dltensor", "used_dltensor");
    view_ = unversioned_->tensor;
  } else {
    fail(PADLOCK_INVALID_ARGUMENT,
         std::string("expected __dlpack__() to return a capsule with a tensor, found ") + nb::repr(capsule).c_str());
  }
  if (is_on_gpu(view_) != on_gpu)
    fail(PADLOCK_INVALID_ARGUMENT,
         "expected a tensor on the device that __dlpack_device__() names, found one on another");
  read_only_ = read_only_ || family_->immutable;
}

bool Tensor::is_dense() const {
  if (view_.strides == nullptr) return true;
  std::int64_t expected = 1;
  bool dense = whole_strides_;
  for (int axis = view_.ndim - 1; axis >= 0; --axis) {
    if (view_.shape[axis] == 0) return true;
    dense = dense && (view_.shape[axis] == 1 || view_.strides[axis] == expected);
    expected *= view_.shape[axis];
  }
  return dense;
}

void Tensor::own_axes() {
  if (view_.shape == extents_.data()) return;
  std::int64_t dense = 1;
  for (int axis = view_.ndim - 1; axis >= 0; --axis) {
    extents_[axis] = view_.shape[axis];
    strides_[axis] = view_.strides == nullptr ? dense : extents_[axis] == 1 ? 1 : view_.strides[axis];
    dense *= extents_[axis];
  }
  view_.shape = extents_.data();
  view_.strides = strides_.data();
}

void Tensor::reinterpret(DLDataType type) {
  const int parts = view_.dtype.bits / type.bits;
  view_.dtype = type;
  if (parts == 1) return;
  own_axes();
  for (int axis = 0; axis < view_.ndim; ++axis) strides_[axis] *= parts;
  extents_[view_.ndim] = parts;
  strides_[view_.ndim] = 1;
  ++view_.ndim;
}

nb::dict Tensor::array_interface() const {
  const std::int64_t bytes = view_.dtype.bits / 8;
  nb::list shape, strides;
  for (int axis = 0; axis < view_.ndim; ++axis) {
    shape.append(view_.shape[axis]);
    // A buffer's own strides need not be whole elements.
    strides.append(whole_strides_ ? view_.strides[axis] * bytes : std::int64_t{buffer_.strides[axis]});
  }
  nb::dict made;
  made["version"] = 3;
  made["typestr"] = bytes == 16 ? std::string("<c16") : "<u" + std::to_string(bytes);
  made["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data()), true);
  made["shape"] = nb::tuple(shape);
  made["strides"] = nb::tuple(strides);
  return made;
}

void Tensor::narrow(int axis, std::int64_t start, std::int64_t extent) {
  own_axes();
  if (extent > 0)  // otherwise there is no first element
    view_.byte_offset += static_cast<std::uint64_t>(start * strides_[axis]) * (view_.dtype.bits / 8);
  extents_[axis] = extent;
}

}  // namespace padlock::python
