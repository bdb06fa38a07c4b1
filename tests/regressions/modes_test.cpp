// Class E: reflect, symmetric, edge and wrap.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {
namespace {

std::string pad_1d(const char* type, const char* mode) {
  return std::string("program p(x: ") + type + "[n], lo: dim, hi: dim) {" +
         "  y = pad(x, low = [lo], high = [hi], mode = " + mode + ") return y }";
}

std::vector<std::int32_t> iota(std::int32_t n) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i;
  return values;
}

}  // namespace

TEST_CASE("onnxruntime_16401: reflect bounces as often as it must") {
  Regression r(
      "program p(x: f32[A, B], lo: dim) { y = pad(x, low = [0, lo], high = [0, 0], mode = reflect) return y }");
  r.gives<float>({{shape({3, 2})}, {{"lo", 2}}}, {bytes_of<float>({1.0F, 1.2F, 2.3F, 3.4F, 4.5F, 5.7F})},
                 {1.0F, 1.2F, 1.0F, 1.2F, 2.3F, 3.4F, 2.3F, 3.4F, 4.5F, 5.7F, 4.5F, 5.7F});
  Regression laps(pad_1d("i32", "reflect"));
  for (const std::int64_t n : {1, 2, 3, 5, 17})
    for (const std::int64_t pad : {n - 2, n - 1, n, 2 * n - 2, 2 * n - 1, 7 * n + 3})
      laps.same({{shape({n})}, {{"lo", pad}, {"hi", std::max<std::int64_t>(0, pad)}}});
}

TEST_CASE("onnxruntime_27652: reflect pads beyond the cropped extent stay in the input") {
  Regression r(pad_1d("i32", "reflect"));
  for (const std::int64_t lo : {-5, -4, -1, 0, 9})
    for (const std::int64_t hi : {-1, 0, 5, 23}) r.same({{shape({6})}, {{"lo", lo}, {"hi", hi}}});
}

TEST_CASE("numpy_22464: wrap is periodic") {
  Regression r(pad_1d("i32", "wrap"));
  r.gives<std::int32_t>({{shape({4})}, {{"lo", 5}, {"hi", 2}}}, {bytes_of(iota(4))}, {3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1});
  r.gives<std::int32_t>({{shape({4})}, {{"lo", 2}, {"hi", 5}}}, {bytes_of(iota(4))}, {2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0});
  r.same({{shape({31})}, {{"lo", 100}, {"hi", 200}}});
}

TEST_CASE("pytorch_37844: the right amount on the right axis") {
  for (const char* mode : {"constant", "edge", "reflect", "symmetric", "wrap"}) {
    Regression r(std::string("program p(x: f32[A, B, C, D]) {"
                             "  y = pad(x, low = [0, 0, 1, 2], high = [0, 0, 3, 4], mode = ") +
                 mode + ") return y }");
    CHECK(r.extents({{shape({2, 3, 5, 7})}}, "y") == std::vector<std::int64_t>{2, 3, 9, 13});
    r.same({{shape({2, 3, 5, 7})}});
    Regression outer(std::string("program p(x: f32[A, B, C, D]) {"
                                 "  y = pad(x, low = [1, 2, 0, 0], high = [3, 4, 0, 0], mode = ") +
                     mode + ") return y }");
    outer.same({{shape({2, 3, 5, 7})}});
  }
}

TEST_CASE("onnxruntime_6442: rows reflect without their elements turning round") {
  Regression r("program p(x: i32[A, B]) { y = pad(x, low = [1, 0], high = [0, 0], mode = reflect) return y }");
  r.gives<std::int32_t>({{shape({3, 4})}}, {bytes_of(iota(12))}, {4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("onnx_4294: a crop does not change what the other side reflects") {
  Regression r(pad_1d("i32", "wrap"));
  r.gives<std::int32_t>({{shape({2})}, {{"lo", -1}, {"hi", 2}}}, {bytes_of(iota(2))}, {1, 0, 1});
  Regression reflect(pad_1d("i32", "reflect"));
  reflect.gives<std::int32_t>({{shape({5})}, {{"lo", -2}, {"hi", 3}}}, {bytes_of(iota(5))}, {2, 3, 4, 3, 2, 1});
}

TEST_CASE("tensorflow_48914: symmetric pad 3 on an axis of 2") {
  Regression r(pad_1d("i32", "symmetric"));
  r.gives<std::int32_t>({{shape({2})}, {{"lo", 3}, {"hi", 3}}}, {bytes_of(iota(2))}, {1, 1, 0, 0, 1, 1, 0, 0});
  r.gives<std::int32_t>({{shape({4})}, {{"lo", 1}, {"hi", 3}}}, {bytes_of(iota(4))}, {0, 0, 1, 2, 3, 3, 2, 1});
}

TEST_CASE("pytorch_105749: a list of pads has one entry an axis") {
  refuses_program("program p(x: f32[A, B, C]) { y = pad(x, low = [1, 1], high = [1, 1, 1], mode = wrap) return y }",
                  "low");
  refuses_program(
      "program p(x: f32[A, B, C]) { y = pad(x, low = [1, 1, 1], high = [1, 1, 1, 1], mode = wrap) return y }", "high");
  refuses_program("program p(x: f32[A]) { y = pad(x, low = [1], high = [1], interior = [0, 0]) return y }", "interior");
  refuses_program("program p(x: f32[A]) { y = pad(x, low = [1], high = [1], mode = edge, value = 1) return y }",
                  "value");
  refuses_program("program p(x: f32[A]) { y = pad(x, low = [1], high = [1], mode = edge, interior = [1]) return y }",
                  "interior");
  refuses_program("program p(x: f32[A]) { y = pad(x, low = [1], high = [1], mode = mirror) return y }", "mirror");
}

TEST_CASE("torch_opinfo: reflect and replicate shapes") {
  for (const char* mode : {"reflect", "edge"}) {
    Regression r(std::string("program p(x: f32[A, B, C, D], l: dim, r: dim, t: dim, b: dim) {"
                             "  y = pad(x, low = [0, 0, t, l], high = [0, 0, b, r], mode = ") +
                 mode + ") return y }");
    r.same({{shape({0, 3, 3, 3})}, {{"l", 0}, {"r", 2}, {"t", 0}, {"b", 1}}});
    r.same({{shape({3, 3, 5, 5})}, {{"l", 0}, {"r", 2}, {"t", 0}, {"b", 1}}});
    r.same({{shape({3, 3, 5, 5})}, {{"l", 1}, {"r", 1}, {"t", 1}, {"b", 1}}});
    r.same({{shape({1, 3, 4, 4})}, {{"l", -1}, {"r", 1}, {"t", -2}, {"b", 1}}});
  }
}

TEST_CASE("onnx_node_tests: constant 1.2, and edge, reflect, wrap on int32") {
  Regression constant(
      "program p(x: f32[A, B, C, D]) {"
      "  y = pad(x, low = [0, 0, 1, 3], high = [0, 0, 2, 4], value = 1.2) return y }");
  constant.same({{shape({1, 3, 4, 5})}});
  for (const char* mode : {"edge", "reflect", "wrap"}) {
    Regression r(std::string("program p(x: i32[A, B, C, D]) {"
                             "  y = pad(x, low = [0, 0, 1, 1], high = [0, 0, 1, 1], mode = ") +
                 mode + ") return y }");
    r.same({{shape({1, 3, 4, 5})}});
  }
}

TEST_CASE("xla_client: interior padding") {
  Regression r(
      "program p(x: f32[A, B]) { y = pad(x, low = [1, 0], high = [2, 1], interior = [1, 0], value = 9) return y }");
  CHECK(r.extents({{shape({2, 2})}}, "y") == std::vector<std::int64_t>{6, 3});
  r.gives<float>({{shape({2, 2})}}, {bytes_of<float>({1, 2, 3, 4})},
                 {9, 9, 9, 1, 2, 9, 9, 9, 9, 3, 4, 9, 9, 9, 9, 9, 9, 9});
  Regression mhlo(
      "program p(x: i32[A, B, C]) {"
      "  y = pad(x, low = [0, 1, 2], high = [1, 1, 0], interior = [0, 0, 1], value = 42) return y }");
  CHECK(mhlo.extents({{shape({1, 2, 3})}}, "y") == std::vector<std::int64_t>{2, 4, 7});
  mhlo.same({{shape({1, 2, 3})}});
  Regression iree("program p(x: i32[n]) { y = pad(x, low = [1], high = [5], interior = [2]) return y }");
  iree.gives<std::int32_t>({{shape({3})}}, {bytes_of<std::int32_t>({1, 2, 3})},
                           {0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0});
  Regression crop("program p(x: i32[n]) { y = pad(x, low = [-1], high = [-1], interior = [1]) return y }");
  crop.gives<std::int32_t>({{shape({3})}}, {bytes_of<std::int32_t>({1, 2, 3})}, {0, 2, 0});
}

}  // namespace padlock::regressions
