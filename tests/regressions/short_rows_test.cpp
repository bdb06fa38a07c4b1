// Rows shorter than a vector, in sufficient number for the host to take them by permutation.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {

TEST_CASE("short rows of every length and mode have the reference's bits") {
  for (const char* const mode : {"constant", "edge", "reflect", "symmetric", "wrap"}) {
    CAPTURE(mode);
    Regression r(std::string("program p(x: i8[B, S], lo: dim, hi: dim) where S >= 3 {"
                             "  y = pad(x, low = [0, lo], high = [0, hi], mode = ") +
                 mode + ") return y }");
    for (const std::int64_t s : {3, 5, 14, 33, 62, 64})
      for (const std::int64_t lo : {-1, 1, 2}) r.same({{shape({30'000 / s, s})}, {{"lo", lo}, {"hi", 1}}});
  }
}

TEST_CASE("short rows in images, whose groups are short, too") {
  Regression r(
      "program p(x: f16[N, H, W], k: dim) { y = pad(x, low = [0, k, k], high = [0, k, k], value = 2) return y }");
  for (const std::int64_t side : {1, 2, 5, 14}) r.same({{shape({20'000 / (side * side), side, side})}, {{"k", 1}}});
  Regression channels(
      "program p(x: u8[N, L, 3]) { y = pad(x, low = [0, 0, 0], high = [0, 0, 1], value = 255) return y }");
  channels.same({{shape({2, 5001, 3})}});
}

TEST_CASE("rows of channels that were apart, and of tensors that are joined") {
  Regression turned("program p(x: f32[N, 3, L]) { y = transpose(x, perm = [0, 2, 1]) z = relu(y) return z }");
  turned.same({{shape({2, 3, 1501})}});
  turned.same({{shape({1501, 3, 2})}});
  Regression joined("program p(a: i16[B, 1], b: i16[B, 2], c: i16[B, 1]) { y = concat(a, b, c, axis = 1) return y }");
  joined.same({{shape({4001, 1}), shape({4001, 2}), shape({4001, 1})}});
}

}  // namespace padlock::regressions
