#pragma once

#include <array>
#include <cstdint>

#include "python/core/tensors/buffer.h"
#include "python/core/tensors/families.h"
#include "python/core/tensors/torch_state.h"

// An argument as memory: its own description, checked where its library would not check it.
namespace padlock::python {

inline constexpr int kMaxAxes = 64;

/// A tensor that is borrowed for a call, with what has to be given back.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor();

  /// Reads the object. Returns false where torch's dispatcher has to see it first. A GPU's tensor of a library without
  /// a table is ready on `stream`. Errors: InvalidArgument for what is no tensor, or none of memory.
  bool read(PyObject* object, TorchState& torch);

  [[nodiscard]] const DLTensor& view() const { return view_; }
  [[nodiscard]] char* data() const { return static_cast<char*>(view_.data) + view_.byte_offset; }
  [[nodiscard]] const Family& family() const { return *family_; }
  [[nodiscard]] PyObject* object() const { return object_; }
  /// The stream on which a GPU's tensor of a library without a table is read: CuPy's current one, else the default.
  [[nodiscard]] void* stream() const { return stream_; }
  [[nodiscard]] bool read_only() const { return read_only_; }
  /// Returns whether the strides are whole elements; the view's are 0 where they are not.
  [[nodiscard]] bool has_whole_strides() const { return whole_strides_; }
  [[nodiscard]] bool is_dense() const;
  /// Takes memory that somebody else has described.
  void set(const DLTensor& view) { view_ = view; }
  /// Reads the bits as another type. A shorter type adds one axis.
  void reinterpret(DLDataType type);
  /// Takes elements of as many bytes for those of another type.
  void set_type(DLDataType type) { view_.dtype = type; }
  /// The memory of a host's tensor as NumPy's __array_interface__, elements as bits. The tensor outlives what takes it.
  [[nodiscard]] nb::dict array_interface() const;
  /// Keeps `extent` elements of an axis, from `start` on.
  void narrow(int axis, std::int64_t start, std::int64_t extent);

 private:
  bool read_unless_traced(PyObject* object, TorchState& torch);
  void check_view() const;
  void check_span() const;
  void read_table();
  void read_numpy();
  void describe(void* data, int ndim, const std::intptr_t* extents, const std::intptr_t* strides);
  void read_buffer(PyObject* object);
  void read_capsule();
  void own_axes();

  DLTensor view_{};
  const Family* family_ = nullptr;
  PyObject* object_ = nullptr;  // borrowed
  void* stream_ = nullptr;
  bool read_only_ = false, whole_strides_ = true;
  Py_buffer buffer_{};  // held where obj is not NULL
  DLManaged* managed_ = nullptr;
  DLManagedUnversioned* unversioned_ = nullptr;
  nb::object bits_;  // a view of an array whose type buffers do not have
  std::array<std::int64_t, kMaxAxes + 1> extents_, strides_;
};

}  // namespace padlock::python
