#pragma once

#include "python/core/pads/pad_program.h"
#include "python/core/tensors/tensor.h"

// The requirements of an eager pad, in terms of axes and numbers: its program's symbols mean nothing to the caller.
namespace padlock::python {

/// Errors: FailedPrecondition for extents, strides and amounts that programs do not take, for a result of negative or
/// too large extent, and for a mode that has no element to repeat. `axis`, `values` and the message have the numbers.
void check_request(const Tensor& x, const PadRequest& request);

}  // namespace padlock::python
