#pragma once

#include <nanobind/nanobind.h>

#include "python/core/tensors/dlpack.h"

// Meanings that PyTorch gives a tensor beyond its memory.
namespace padlock::python {

/// The parts of torch's state that change the meaning of a tensor, asked once a call.
class TorchState {
 public:
  TorchState() = default;
  /// Inside an operator, where torch's dispatcher has done what there was to do: tensors are memory, or errors.
  [[nodiscard]] static TorchState inside() {
    TorchState state;
    state.modes_ = 0;
    state.inside_ = true;
    return state;
  }
  [[nodiscard]] bool is_inside() const { return inside_; }
  /// Checks whether torch would do anything with such a tensor but read its memory: subclasses, negative and conjugate
  /// views, gradients to record, and modes under which a tensor is no memory at all.
  bool is_plain(PyObject* object, const DLTensor& view);

 private:
  static bool has_modes();
  static bool asked_of_python();
  int modes_ = -1;  // not asked
  bool inside_ = false;
};

}  // namespace padlock::python
