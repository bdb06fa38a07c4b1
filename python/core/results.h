#pragma once

#include "python/core/call_cache.h"
#include "python/core/tensors/tensor.h"

// Results: new ones, which the library of the inputs makes, and given ones.
namespace padlock::python {

/// A tensor to write to, as an object of its library.
struct Made {
  nb::object object;
  void* data = nullptr;
};

/// Makes a result of the call on the device of `like`, by that tensor's library; NULL: NumPy's.
[[nodiscard]] Made make_result(BoundCall& call, std::size_t index, const Tensor* like);

/// Checks a tensor given for a result. Errors: InvalidArgument, with what was expected and what was found.
void check_given(const ResultShape& shape, const Tensor& given, const Tensor* like);

}  // namespace padlock::python
