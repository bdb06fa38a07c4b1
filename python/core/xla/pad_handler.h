#pragma once

#include "python/core/failure.h"

namespace padlock::python {

/// Returns the handler of padlock's pad for programs that XLA compiles for CPUs or CUDA's GPUs, as a capsule for
/// jax.ffi. Its attributes: the amounts `low` and `high`, the `mode`, and the bits `fill` of its value.
[[nodiscard]] nb::object xla_pad_handler(bool on_gpu);

}  // namespace padlock::python
