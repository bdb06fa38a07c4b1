#pragma once

#include <memory>
#include <vector>

#include "python/core/kernel.h"

namespace padlock::python {

/// The arguments of one call, matched to a program's parameters and read.
struct KernelObject::Arguments {
  explicit Arguments(const KernelObject& kernel)
      : values(kernel.parameters_.size()), tensors(new Tensor[kernel.tensors_]) {}

  std::vector<PyObject*> values;  // borrowed; by parameter
  std::unique_ptr<Tensor[]> tensors;
  std::vector<Tensor*> inputs;
  std::vector<const DLTensor*> views;
  std::vector<std::uint64_t> scalars;
  std::vector<padlock_named_value> dims;
  std::vector<std::pair<const char*, PyObject*>> others;  // named values of symbols that are no parameters
  nb::object out = nb::none();
  CallKey key;
  TorchState torch;
  bool traced = false;  // torch's dispatcher has to see a tensor first

  [[nodiscard]] Binding binding() const {
    Binding made{.inputs = views, .scalars = scalars};
    for (const padlock_named_value& dim : dims) made.dims.set(dim.name, dim.value);
    return made;
  }
  [[nodiscard]] const Tensor* like() const { return inputs.empty() ? nullptr : inputs[0]; }
};

}  // namespace padlock::python
