#pragma once

#include <span>

#include "python/core/call_cache.h"
#include "python/core/tensors/tensor.h"

// From a bound call and its inputs to results of their library.
namespace padlock::python {

/// Launches the call. `out` is None, a tensor, or a tuple of as many as there are results; without it the library of
/// `like` makes the results. `types` are the results' element types if they differ from the program's. Returns the
/// result, or a tuple of them. Errors: those of padlock_call_launch; InvalidArgument for an `out` that differs, is
/// read-only or is not dense.
[[nodiscard]] nb::object launch(const std::shared_ptr<BoundCall>& bound, std::span<Tensor* const> inputs,
                                nb::handle out, const Tensor* like, TorchState& torch);

/// Launches a call on memory, on a GPU on `stream`. Releases the GIL for large launches. Errors: those of
/// padlock_call_launch.
void launch_memory(const BoundCall& bound, void** inputs, std::size_t input_count, void** results, void* stream);

}  // namespace padlock::python
