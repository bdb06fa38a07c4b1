#pragma once

#include <span>

#include "python/core/call_cache.h"
#include "python/core/tensors/tensor.h"

// From a bound call and its inputs to results as their library has them.
namespace padlock::python {

/// Launches the call. `out` is None, a tensor, or a tuple of as many as there are results; results are made by the
/// library of `like`, where they are not given. `types` are the results' element types where they are others than the
/// program's. Returns the result, or a tuple of them. Errors: as padlock_call_launch; InvalidArgument for an `out` that
/// differs, is read-only or is not dense.
[[nodiscard]] nb::object launch(const std::shared_ptr<BoundCall>& bound, std::span<Tensor* const> inputs,
                                nb::handle out, const Tensor* like, TorchState& torch);

/// Launches a call on memory, on a GPU on `stream`. Releases the GIL where that pays. Errors: as padlock_call_launch.
void launch_memory(const BoundCall& bound, void** inputs, std::size_t input_count, void** results, void* stream);

}  // namespace padlock::python
