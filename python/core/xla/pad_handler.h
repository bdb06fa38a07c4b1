#pragma once

#include "python/core/failure.h"

namespace padlock::python {

/// The handler of padlock's pad in programs that XLA compiles for CPUs, or for CUDA's GPUs, as a capsule for jax.ffi.
/// Its attributes: the amounts `low` and `high`, the `mode`, and the bits `fill` of its value.
[[nodiscard]] nb::object xla_pad_handler(bool on_gpu);

}  // namespace padlock::python
