#pragma once

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// Tells whether a PyTorch tensor means more than its memory.
namespace padlock::python {

/// The state of torch that changes the meaning of a tensor, asked once for each call.
class TorchState {
 public:
  TorchState() = default;
  /// The state inside an operator, where torch's dispatcher has done its work: tensors are memory, or errors.
  [[nodiscard]] static TorchState inside() {
    TorchState state;
    state.modes_ = 0;
    state.inside_ = true;
    return state;
  }
  [[nodiscard]] bool is_inside() const { return inside_; }
  /// Returns whether torch would only read this tensor's memory. It would not for subclasses, negative and conjugate
  /// views, gradients to record, and modes under which a tensor has no memory.
  bool is_plain(PyObject* object, const DLTensor& view);

 private:
  static bool has_modes();
  static bool asked_of_python();
  int modes_ = -1;  // -1: not asked
  bool inside_ = false;
};

}  // namespace padlock::python
