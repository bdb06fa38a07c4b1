#pragma once

#include <array>
#include <cstdint>

#include "python/core/tensors/buffer.h"
#include "python/core/tensors/families.h"
#include "python/core/tensors/torch_state.h"

// An argument as memory: its description, with checks that its library may lack.
namespace padlock::python {

inline constexpr int kMaxAxes = 64;

/// A tensor borrowed for a call, with what must be given back.
class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  ~Tensor();

  /// Reads the object. Returns false if torch's dispatcher must see it first. A GPU's tensor of a library without a
  /// table is ready on `stream`. Errors: InvalidArgument for an object that is no tensor, or a tensor without memory.
  bool read(PyObject* object, TorchState& torch);

  [[nodiscard]] const DLTensor& view() const { return view_; }
  [[nodiscard]] char* data() const { return static_cast<char*>(view_.data) + view_.byte_offset; }
  [[nodiscard]] const Family& family() const { return *family_; }
  [[nodiscard]] PyObject* object() const { return object_; }
  /// Returns the stream on which a GPU's tensor of a library without a table is read: CuPy's current one, else the
  /// default.
  [[nodiscard]] void* stream() const { return stream_; }
  [[nodiscard]] bool read_only() const { return read_only_; }
  /// Returns whether the strides are whole elements. If not, the view's strides are 0.
  [[nodiscard]] bool has_whole_strides() const { return whole_strides_; }
  [[nodiscard]] bool is_dense() const;
  /// Takes memory with its description.
  void set(const DLTensor& view) { view_ = view; }
  /// Reinterprets the bits as another type. A shorter type adds one axis.
  void reinterpret(DLDataType type);
  /// Reinterprets elements as another type of the same size.
  void set_type(DLDataType type) { view_.dtype = type; }
  /// Returns a host tensor as NumPy's __array_interface__, with elements as bits. The tensor must outlive the array.
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
  Py_buffer buffer_{};  // held unless obj is NULL
  DLManaged* managed_ = nullptr;
  DLManagedUnversioned* unversioned_ = nullptr;
  nb::object bits_;  // a view of an array whose type buffers lack
  std::array<std::int64_t, kMaxAxes + 1> extents_, strides_;
};

}  // namespace padlock::python
