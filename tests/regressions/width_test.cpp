// Class D: index width, overflow and limits of extents. Sizes past 2^31 elements: padlock_large_sizes.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {

TEST_CASE("pytorch_182193: chunks whose offsets are products") {
  Regression r(
      "program p(x: i16[C, V, K] strides [V * K, K, 1], c: dim) where 0 <= c, c < C {"
      "  s = slice(x, start = [c, 0, 0], limit = [C, V, K]) y = pad(s, low = [0, 1, -1], high = [0, 0, 0], value = 5)"
      "  return y }");
  for (const std::int64_t c : {0, 2, 4}) r.same({{shape({5, 7, 33}, {231, 33, 1})}, {{"c", c}}});
}

TEST_CASE("pytorch_165861: extents around 65535 on every axis") {
  Regression r(
      "program p(x: i8[A, B, C]) {"
      "  y = pad(x, low = [0, 1, 1], high = [1, 0, -1], mode = reflect) return y }");
  for (const std::int64_t n : {65535, 65536, 65537}) {
    r.same({{shape({n, 1, 2})}});
    r.same({{shape({1, n, 2})}});
    r.same({{shape({1, 2, n})}});
  }
}

TEST_CASE("tensorflow_51908: pads at the ends of 64 bits are errors that name the expression") {
  Regression r(
      "program p(x: f32[A, B], k: dim) where -9223372036854775807 <= k, k <= 9223372036854775807 {"
      "  y = pad(x, low = [k, k], high = [k, k]) return y }");
  for (const std::int64_t k : {std::int64_t{1} << 31, std::int64_t{1} << 62, std::int64_t{9223372036854775807}})
    r.refuses({{shape({4, 5})}, {{"k", k}}}, "k");
  for (const std::int64_t k : {-(std::int64_t{1} << 31), -(std::int64_t{1} << 62), -std::int64_t{9223372036854775807}})
    r.refuses({{shape({4, 5})}, {{"k", k}}}, "k");
}

TEST_CASE("tensorflow_51908: a product of extents that overflows is an error that names it") {
  Regression r("program p(a: i8[A], b: dim, c: dim) { y = broadcast(a, shape = [b, c, A], axes = [2]) return y }");
  constexpr std::int64_t kBig = std::int64_t{1} << 40;
  r.refuses({{shape({8})}, {{"b", kBig}, {"c", kBig}}}, "y");
  r.refuses({{shape({8})}, {{"b", std::int64_t{1} << 22}, {"c", std::int64_t{1} << 22}}}, "y");
  r.same({{shape({8})}, {{"b", 0}, {"c", kBig}}});
  Regression stated("program p(x: i8[A], b: dim) { y = pad(x, low = [b * b * b], high = [0]) return y }");
  stated.refuses({{shape({8})}, {{"b", kBig}}}, "b*b*b");
  stated.same({{shape({8})}, {{"b", 3}}});
}

TEST_CASE("tensorflow_51908: a symbol beyond its bound is refused") {
  Regression r("program p(x: i8[A, B], k: dim) { y = pad(x, low = [0, k], high = [0, 0]) return y }");
  r.refuses({{shape({4, 5})}, {{"k", (std::int64_t{1} << 40) + 1}}}, "k");
  r.refuses({{shape({4, 5})}, {{"k", std::int64_t{1} << 62}}}, "k");
}

TEST_CASE("mlx_3720: a negative stride is refused") {
  Regression r("program p(x: f32[A] strides [S]) { y = relu(x) return y }");
  r.refuses({{shape({4}, {-1})}}, "stride");
  r.same({{shape({4}, {0})}});
}

TEST_CASE("paddle_74034: a crop of the low side at an odd extent, in every position of three axes") {
  Regression r(
      "program p(x: f32[A, B, C], a: dim, b: dim, c: dim) {"
      "  y = pad(x, low = [a, b, c], high = [0, 0, 0], value = 1) return y }");
  r.same({{shape({13, 47, 7})}, {{"a", -3}, {"b", 0}, {"c", 0}}});
  r.same({{shape({13, 47, 7})}, {{"a", 0}, {"b", -3}, {"c", 0}}});
  r.same({{shape({13, 47, 7})}, {{"a", 0}, {"b", 0}, {"c", -3}}});
}

}  // namespace padlock::regressions
