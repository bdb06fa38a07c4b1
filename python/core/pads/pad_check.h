#pragma once

#include "python/core/pads/pad_program.h"
#include "python/core/tensors/tensor.h"

// What an eager pad requires, said by axes and numbers: its program's symbols are nobody's words.
namespace padlock::python {

/// Errors: FailedPrecondition for extents, strides and amounts that programs do not take, for a result of less than no
/// or of too many elements, and for a mode that finds no element to repeat. `axis`, `values` and the message have the
/// numbers.
void check_request(const Tensor& x, const PadRequest& request);

}  // namespace padlock::python
