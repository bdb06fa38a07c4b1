#pragma once

#include "ir/operation.h"

namespace padlock::ir {

/// Returns the f32 nearest to the real function's value, ties to even. `op`: of the class OpClass::activation. At
/// infinities it is the limit: gelu, gelu_tanh and silu of -infinity are -0. A NaN gives one, and so does log or rsqrt
/// of a negative number; log of zeros is -infinity, rsqrt of them infinity of their sign.
///
/// From functions of `long double`, whose errors no f32 shows: tests/activation asks of all that lie near a tie.
[[nodiscard]] float activation_of(Op op, float x);

}  // namespace padlock::ir
