#pragma once

#include <cstdint>

#include "ir/dtype.h"

namespace padlock::ir {

/// A value of an element type as its exact bits, in the low bit_width(dtype) bits of `bits` (the rest is 0).
struct Scalar {
  DType dtype = DType::f32;
  std::uint64_t bits = 0;
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

}  // namespace padlock::ir
