#pragma once

#include "ir/operation.h"

namespace padlock::ir {

/// Returns the f32 nearest to the real function's value, ties to even. `op` has the class OpClass::activation. At
/// infinities the value is the limit: gelu, gelu_tanh and silu of -infinity are -0. A NaN gives a NaN, and so does log
/// or rsqrt of a negative number; log of zeros is -infinity, rsqrt of them infinity of their sign.
///
/// Computed in `long double`, whose errors never change the f32: tests/activation checks all arguments near a tie.
[[nodiscard]] float activation_of(Op op, float x);

}  // namespace padlock::ir
