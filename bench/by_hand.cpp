#include "bench/by_hand.h"

#include <algorithm>

namespace padlock::bench {

void pad_relu_by_hand(const float* in, float* out, std::int64_t rows, std::int64_t columns, std::int64_t low,
                      std::int64_t high, float fill) {
  const float border = fill < 0 ? 0.0F : fill;
  const std::int64_t width = low + columns + high;
  out = std::fill_n(out, low * width, border);
  for (std::int64_t r = 0; r < rows; ++r, in += columns) {
    out = std::fill_n(out, low, border);
    for (std::int64_t c = 0; c < columns; ++c) out[c] = in[c] < 0 ? 0.0F : in[c];
    out = std::fill_n(out + columns, high, border);
  }
  std::fill_n(out, high * width, border);
}

}  // namespace padlock::bench
