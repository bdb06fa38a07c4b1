// Classes F, H1 and L: layouts, strides, offsets, aliases and vectorised access. Storage and offsets come from one
// layout. An access may be as wide as its whole run allows; a promise about it is an obligation.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {

TEST_CASE("pytorch_179442: channels-last in, row-major out") {
  Regression r(
      "program p(x: f32[N, C, H, W] strides [H * W * C, 1, W * C, C]) {"
      "  y = pad(x, low = [0, 0, 2, 1], high = [0, 0, 1, 2], mode = reflect) return y }");
  const Sizes sizes{{shape({2, 3, 4, 5}, {60, 1, 15, 3})}};
  const auto binding = ir::Binding::bind(r.program(), {{sizes.tensors.begin(), sizes.tensors.end()}, {}});
  REQUIRE(binding.has_value());
  CHECK(binding->strides_of(r.program().value(r.program().results()[0])) == std::vector<std::int64_t>{168, 56, 8, 1});
  r.same(sizes);
}

TEST_CASE("pytorch_144187: a kernel is told the strides of its result, it does not choose them") {
  Regression r(
      "program p(x: f32[A, B, C] strides [1, A, A * B], k: dim) {"
      "  y = pad(x, low = [0, k, k], high = [0, 0, 1]) return y }");
  r.proves(compiler::ObligationKind::store, "columns of p_0");
  r.proves(compiler::ObligationKind::cover, "rows of p_0");
  const Sizes sizes{{shape({3, 5, 7}, {1, 3, 15})}, {{"k", 2}}};
  const auto binding = ir::Binding::bind(r.program(), {{sizes.tensors.begin(), sizes.tensors.end()}, sizes.symbols});
  REQUIRE(binding.has_value());
  CHECK(binding->strides_of(r.program().value(r.program().results()[0])) == std::vector<std::int64_t>{70, 10, 1});
  CHECK(r.storage_bytes(sizes, "y") == 3 * 7 * 10 * 4);
  r.same(sizes);
}

TEST_CASE("pytorch_152520: a 3 x 2 result is 3 x 2, not 3 x 2 at a pitch of 4") {
  Regression r("program p(x: f32[A, B] strides [P, 1]) { y = relu(x) return y }");
  CHECK(r.storage_bytes({{shape({3, 2}, {4, 1})}}, "y") == 24);
  r.same({{shape({3, 2}, {4, 1})}});
}

TEST_CASE("llama_cpp_15869: views with strides, transposes and steps") {
  Regression r(
      "program p(x: f32[A, B, C] strides [S, T, U]) {"
      "  y = pad(x, low = [1, 2, 3], high = [0, 1, 2], value = 8) return y }");
  const std::vector<std::vector<std::int64_t>> strides = {{35, 7, 1},  {1, 3, 15}, {7, 21, 1},
                                                          {70, 14, 2}, {0, 7, 1},  {1, 1, 1}};
  for (const auto& s : strides) r.same({{shape({3, 5, 7}, s)}});
}

TEST_CASE("pytorch_90870: base[5:15] begins at 5") {
  Regression r(
      "program p(x: f32[n]) { s = slice(x, start = [5], limit = [15]) y = pad(s, low = [1], high = [1], mode = edge)"
      "  w = slice(x, start = [0], limit = [10]) z = pad(w, low = [1], high = [1], mode = edge) return y, z }");
  std::vector<float> base(20);
  for (std::size_t i = 0; i < base.size(); ++i) base[i] = static_cast<float>(i);
  r.gives<float>({{shape({20})}}, {bytes_of(base)}, {5, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 14});
}

TEST_CASE("pytorch_97117: a pad of 0 is a copy") {
  Regression r("program p(x: f32[A, B], k: dim) { y = pad(x, low = [0, k], high = [k, 0]) return y, x }");
  // Results are poisoned before each run and the input is compared after it, so an alias could not pass.
  r.same({{shape({7, 33})}, {{"k", 0}}});
  r.same({{shape({0, 3})}, {{"k", 0}}});
}

TEST_CASE("triton_1330: rows of 1185 elements are misaligned") {
  Regression r("program p(x: f16[A, B]) { y = relu(x) z = pad(y, low = [0, 1], high = [0, 0]) return z, y }");
  r.proves(compiler::ObligationKind::align, "");  // stores past the caches, and a GPU's vectors, are aligned
  r.same({{shape({6, 1185})}});
  r.same({{shape({2, 33})}});
}

TEST_CASE("nvfuser_3321: every low pad from 0 to two vectors, with tails") {
  Regression r(
      "program p(x: i32[A, B], lo: dim, hi: dim) { y = pad(x, low = [0, lo], high = [0, hi], value = 7) return y }");
  for (std::int64_t lo = 0; lo <= 33; ++lo) r.same({{shape({3, 64})}, {{"lo", lo}, {"hi", 33 - lo}}});
}

TEST_CASE("flash_sparse_attention_168: tails of 1 to two vectors, and rows of 8190 bytes") {
  Regression r(
      "program p(x: i16[A, B] strides [P, 1]) { y = pad(x, low = [0, 0], high = [0, 1], value = -1) return y }");
  for (std::int64_t n = 1; n <= 66; ++n) r.same({{shape({3, n}, {n + 1, 1})}});
  r.same({{shape({5, 4090}, {4095, 1})}});
}

}  // namespace padlock::regressions
