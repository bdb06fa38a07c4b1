#pragma once

#include "python/core/call_cache.h"
#include "python/core/tensors/tensor.h"

// Results that are made, each by the library of the inputs, and results that are given.
namespace padlock::python {

/// A tensor to write to, as an object of its library.
struct Made {
  nb::object object;
  void* data = nullptr;
};

/// Makes a result of the call on the device of `like`, a tensor of the library that makes it; NULL: NumPy's.
[[nodiscard]] Made make_result(BoundCall& call, std::size_t index, const Tensor* like);

/// Checks a tensor that is to take a result. Errors: InvalidArgument, saying what was expected and what was found.
void check_given(const ResultShape& shape, const Tensor& given, const Tensor* like);

}  // namespace padlock::python
