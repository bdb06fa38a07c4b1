// Programs that read across rows, for which GPUs use tiles: every element size, every mode, sizes around a tile's.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <array>
#include <utility>

#include "tests/regressions/regression.h"

namespace padlock::conformance {
namespace {

using regressions::Regression;
using regressions::shape;

// A type of each size.
constexpr std::array kTypes = {"i8", "f16", "f32", "f64"};

void same_on(Regression& r, const std::vector<std::pair<std::int64_t, std::int64_t>>& sizes,
             const std::map<std::string, std::int64_t>& dims = {}) {
  for (const auto& [a, b] : sizes) r.same({{shape({a, b})}, dims});
}

}  // namespace

TEST_CASE("transpose: sizes round a tile, of every type's size") {
  for (const char* type : kTypes) {
    Regression r(fmt::format("program p(x: {}[A, B]) {{ t = transpose(x, perm = [1, 0]) return t }}", type));
    same_on(r, {{0, 3}, {1, 1}, {1, 300}, {33, 31}, {128, 256}, {129, 132}, {130, 257}});
  }
}

TEST_CASE("transpose: operations of one load, of every type's size") {
  for (const char* type : kTypes) {
    Regression r(
        fmt::format("program p(x: {}[A, B], v: {}) {{ t = transpose(x, perm = [1, 0]) y = add(t, v) z = relu(y) "
                    "return z }}",
                    type, type));
    same_on(r, {{132, 260}, {131, 129}});
  }
}

TEST_CASE("transpose: pads and crops on both axes in every mode") {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"})
    for (const char* type : {"i8", "f32"}) {
      Regression r(
          fmt::format("program p(x: {}[A, B], l: dim, h: dim) {{ t = transpose(x, perm = [1, 0])"
                      "  y = pad(t, low = [l, h], high = [h, l], mode = {}) return y }}",
                      type, mode));
      same_on(r, {{140, 290}}, {{"l", 3}, {"h", 2}});
      same_on(r, {{290, 140}}, {{"l", -3}, {"h", 4}});
      same_on(r, {{5, 3}}, {{"l", 2}, {"h", 7}});
    }
}

// Tiles would be mostly empty, so the grid of vectors takes them.
TEST_CASE("transpose: outputs of few rows or columns, of every type's size") {
  for (const char* type : kTypes) {
    Regression images(
        fmt::format("program p(x: {}[N, C, H, W], l: dim) {{ t = transpose(x, perm = [0, 2, 3, 1])"
                    "  y = pad(t, low = [0, l, 0, 0], high = [0, 0, 1, l]) z = relu(y) return z }}",
                    type));
    for (const std::int64_t channels : {1, 3, 47, 48, 96, 130})
      for (const std::int64_t l : {0, 1}) images.same({{shape({2, channels, 9, 21})}, {{"l", l}}});
    Regression planes(
        fmt::format("program p(x: {}[N, H, W, C], l: dim) {{ t = transpose(x, perm = [0, 3, 1, 2])"
                    "  y = pad(t, low = [0, 0, l, 1], high = [0, l, 0, 1], mode = edge) return y }}",
                    type));
    for (const std::int64_t channels : {1, 3, 5, 6, 22})
      for (const std::int64_t l : {0, 2}) planes.same({{shape({2, 11, 67, channels})}, {{"l", l}}});
  }
}

TEST_CASE("transpose: batches, other axes, and rows that are merged") {
  for (const char* perm : {"0, 2, 1", "0, 3, 1, 2", "0, 2, 3, 1", "3, 2, 1, 0"}) {
    const bool four = std::string_view(perm).size() > 8;
    Regression r(
        fmt::format("program p(x: f16[A, B, C{}], l: dim) {{ t = transpose(x, perm = [{}])"
                    "  y = pad(t, low = [0, 0, l{}], high = [0, 1, 0{}]) return y }}",
                    four ? ", D" : "", perm, four ? ", 0" : "", four ? ", 0" : ""));
    for (const std::int64_t l : {0, 2}) r.same({{four ? shape({2, 35, 4, 37}) : shape({3, 66, 130})}, {{"l", l}}});
  }
}

TEST_CASE("transpose: sums of which some terms lie across and some do not") {
  Regression r(
      "program p(x: bf16[1, N, S, C, 1], y: bf16[1, N, S, C, 1] strides [S, C * S, 1, S, S], l: dim, H: dim, k: dim,"
      "          E: dim, m: dim, F: dim) { v = concat(y, x, axis = 3)"
      "  a = pad_adjoint(v, extent = [H, N, S, 2 * C, 1], low = [l, 0, 0, 0, 0], high = [1 - l - H, 0, 0, 0, 0],"
      "                  mode = wrap)"
      "  b = pad_adjoint(a, extent = [H, N, E, F, 1], low = [0, 0, k, m, 0],"
      "                  high = [0, 0, S - k - E, 2 * C - m - F, 0], mode = wrap)"
      "  t = transpose(b, perm = [4, 1, 2, 0, 3]) return t }");
  const auto same = [&](std::int64_t n, std::int64_t s, std::int64_t c,
                        const std::map<std::string, std::int64_t>& dims) {
    r.same({{shape({1, n, s, c, 1}), shape({1, n, s, c, 1}, {s, c * s, 1, s, s})}, dims});
  };
  same(2, 5, 3, {{"l", 1}, {"H", 2}, {"k", 1}, {"E", 3}, {"m", 2}, {"F", 1}});
  same(3, 40, 20, {{"l", -3}, {"H", 4}, {"k", 7}, {"E", 20}, {"m", -2}, {"F", 33}});
}

TEST_CASE("transpose: casts between types of every size") {
  for (const char* from : {"i8", "f16", "f32", "i64"})
    for (const char* to : {"i8", "f16", "f32", "i64"}) {
      Regression r(fmt::format("program p(x: {}[A, B]) {{ t = transpose(x, perm = [1, 0]) y = cast(t, {}) return y }}",
                               from, to));
      same_on(r, {{130, 132}});
    }
}

TEST_CASE("transpose: results of several types, and of several loads") {
  Regression several(
      "program p(x: i8[A, B], y: i8[A, B]) { s = transpose(x, perm = [1, 0]) t = transpose(y, perm = [1, 0])"
      "  m = maximum(s, t) c = cast(m, i16) return m, c }");
  several.same({{shape({140, 136}), shape({140, 136})}});
  Regression pieces(
      "program p(x: f32[A, B], y: f32[C, B]) { s = transpose(x, perm = [1, 0]) t = transpose(y, perm = [1, 0])"
      "  z = concat(s, t, axis = 1) return z }");
  pieces.same({{shape({40, 70}), shape({33, 70})}});
}

TEST_CASE("transpose: loads along other axes beside those across rows") {
  Regression mixed(
      "program p(x: f32[A, B], y: f32[B, A], b: f32[B]) { s = transpose(x, perm = [1, 0]) t = add(s, y)"
      "  c = broadcast(b, shape = [B, A], axes = [0]) z = mul(t, c) return z }");
  mixed.same({{shape({37, 66}), shape({66, 37}), shape({66})}});
  Regression stays(
      "program p(x: i8[A, B], b: i8[B]) { s = transpose(x, perm = [1, 0])"
      "  c = broadcast(b, shape = [B, A], axes = [0]) z = add(s, c) return z }");
  stays.same({{shape({130, 140}), shape({140})}});
  Regression turned(
      "program p(x: i16[A, B, C], y: i16[B, A, C]) { s = transpose(x, perm = [2, 1, 0]) t = transpose(y, perm = [2, 0, "
      "1])"
      "  z = add(s, t) return z }");
  turned.same({{shape({35, 3, 66}), shape({3, 35, 66})}});
  Regression different(
      "program p(x: f32[A, B, C], y: f32[A, C, B]) { s = transpose(x, perm = [2, 1, 0]) t = transpose(y, perm = [1, 2, "
      "0])"
      "  z = add(s, t) return z }");
  different.same({{shape({35, 4, 37}), shape({35, 37, 4})}});
}

TEST_CASE("transpose: strides, steps and interior padding") {
  Regression strided("program p(x: f16[A, B] strides [B + 3, 1]) { t = transpose(x, perm = [1, 0]) return t }");
  for (const std::int64_t b : {129, 130, 133}) strided.same({{shape({70, b}, {b + 3, 1})}});
  Regression stepped(
      "program p(x: i8[A, B]) where A >= 2, B >= 2 { t = transpose(x, perm = [1, 0])"
      "  s = slice(t, start = [1, 0], limit = [B, A], step = [2, 3]) return s }");
  stepped.same({{shape({400, 290})}});
  Regression spread(
      "program p(x: f32[A, B]) { t = transpose(x, perm = [1, 0])"
      "  y = pad(t, low = [1, 0], high = [0, 1], interior = [1, 2], value = 2) return y }");
  spread.same({{shape({30, 33})}});
}

}  // namespace padlock::conformance
