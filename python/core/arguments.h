#pragma once

#include <array>
#include <memory>
#include <vector>

#include "python/core/kernel.h"

namespace padlock::python {

/// The arguments of one call, matched to a program's parameters and read.
struct KernelObject::Arguments {
  explicit Arguments(const KernelObject& kernel)
      : more(kernel.tensors_ > few.size() ? new Tensor[kernel.tensors_] : nullptr),
        tensors(more ? more.get() : few.data()) {
    values.assign(kernel.parameters_.size(), nullptr);
  }

  SmallVector<PyObject*, 8> values;  // borrowed; by parameter
  std::array<Tensor, 2> few;
  std::unique_ptr<Tensor[]> more;  // holds all of them if they do not fit above
  Tensor* tensors;
  SmallVector<Tensor*, 8> inputs;
  SmallVector<const DLTensor*, 8> views;
  SmallVector<std::uint64_t, 8> scalars;
  SmallVector<padlock_named_value, 8> dims;
  std::vector<std::pair<const char*, PyObject*>> others;  // symbols that are not parameters, by name
  nb::object out = nb::none();
  CallKey key;
  TorchState torch;
  bool traced = false;  // torch's dispatcher must see a tensor first

  [[nodiscard]] Binding binding() const {
    Binding made{.inputs = {views.begin(), views.end()}, .scalars = {scalars.begin(), scalars.end()}};
    for (const padlock_named_value& dim : dims) made.dims.set(dim.name, dim.value);
    return made;
  }
  [[nodiscard]] const Tensor* like() const { return inputs.empty() ? nullptr : inputs[0]; }
};

}  // namespace padlock::python
