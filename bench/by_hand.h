#pragma once

#include <cstdint>

namespace padlock::bench {

/// Pads as one would by hand without Padlock, compiled by this build's C++ compiler for this machine: pads a row-major
/// rows x columns array by `low` and `high` elements of `fill` on both axes and applies relu, in one pass.
void pad_relu_by_hand(const float* in, float* out, std::int64_t rows, std::int64_t columns, std::int64_t low,
                      std::int64_t high, float fill);

}  // namespace padlock::bench
