#pragma once

#include "python/core/failure.h"

namespace padlock::python {

/// The handler that runs any program with one result in what XLA compiles for CPUs, or for CUDA's GPUs, as a capsule
/// for jax.ffi. The call's arguments are the program's tensors. Its attributes: the `program`'s text, the bits of its
/// `scalars`, and `sizes`: for each of its dims the axis of the result that is as long.
[[nodiscard]] nb::object xla_program_handler(bool on_gpu);

}  // namespace padlock::python
