// Class C: extents of 0.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {

TEST_CASE("nvfuser_1906: a crop to extent 0 writes nothing and keeps its shape") {
  Regression r(
      "program p(x: bf16[A, B, C, D]) {"
      "  y = pad(x, low = [0, 0, 0, -1], high = [0, 0, 0, -1], value = 4.2) return y }");
  const Sizes sizes{{shape({3, 3, 4, 2})}};
  CHECK(r.extents(sizes, "y") == std::vector<std::int64_t>{3, 3, 4, 0});
  CHECK(r.storage_bytes(sizes, "y") == 0);
  r.same(sizes);
  r.same({{shape({3, 3, 4, 3})}});
}

TEST_CASE("pytorch_108043: a pad of 0 on [0, 0, 1] needs 0 bytes, not -1") {
  Regression r("program p(x: f32[A, B, C], k: dim) { y = pad(x, low = [0, k, k], high = [0, k, k]) return y }");
  const Sizes sizes{{shape({0, 0, 1})}, {{"k", 0}}};
  CHECK(r.storage_bytes(sizes, "x") == 0);
  CHECK(r.storage_bytes(sizes, "y") == 0);
  r.same(sizes);
  r.same({{shape({1, 0, 1})}, {{"k", 2}}});
}

TEST_CASE("pytorch_107066: an empty source and a result that is all fill") {
  Regression r("program p(x: f32[R, C], lo: dim) { y = pad(x, low = [lo, 0], high = [1, 0], value = 2.5) return y }");
  r.gives<float>({{shape({0, 3})}, {{"lo", 1}}}, {{}}, {2.5F, 2.5F, 2.5F, 2.5F, 2.5F, 2.5F});
  r.same({{shape({0, 70})}, {{"lo", 5}}});
  Regression interior(
      "program p(x: f32[n]) { y = pad(x, low = [2], high = [3], interior = [2], value = -1) return y }");
  interior.gives<float>({{shape({0})}}, {{}}, {-1, -1, -1, -1, -1});
  interior.gives<float>({{shape({1})}}, {bytes_of<float>({9})}, {-1, -1, 9, -1, -1, -1});
}

TEST_CASE("pytorch_178878: rows or columns of 0 do not divide by 0") {
  Regression r("program p(x: f32[A, B, C], lo: dim) { y = pad(x, low = [0, lo, 0], high = [0, 0, lo]) return y }");
  for (const std::int64_t a : {0, 1, 3})
    for (const std::int64_t b : {0, 1, 3})
      for (const std::int64_t c : {0, 1, 65}) r.same({{shape({a, b, c})}, {{"lo", 0}}});
}

TEST_CASE("pytorch_110312: a result without elements is no launch") {
  Regression r("program p(x: u8[A, B]) { y = transpose(x, perm = [1, 0]) return y }");
  r.same({{shape({0, 5})}});
  r.same({{shape({5, 0})}});
  r.same({{shape({0, 0})}});
}

TEST_CASE("pytorch_193694: a reflect pad that removes an axis, and what consumes it") {
  Regression r(
      "program p(x: f32[A, B, C], h: dim) {"
      "  y = pad(x, low = [0, 0, -1], high = [0, h, 1], mode = reflect) z = relu(y)"
      "  w = pad(z, low = [0, 1, 0], high = [0, 1, 0], value = 3) return w, z }");
  r.same({{shape({2, 4, 5})}, {{"h", -4}}});
  r.same({{shape({2, 4, 5})}, {{"h", 3}}});
}

TEST_CASE("torch_opinfo: an empty axis is legal in every mode but constant only where it stays empty") {
  for (const char* mode : {"edge", "reflect", "symmetric", "wrap"}) {
    Regression r(std::string("program p(x: f32[A, B], lo: dim, hi: dim) {"
                             "  y = pad(x, low = [lo, 1], high = [hi, 2], mode = ") +
                 mode + ") return y }");
    r.same({{shape({0, 3})}, {{"lo", 0}, {"hi", 0}}});
    r.same({{shape({0, 3})}, {{"lo", 2}, {"hi", -2}}});
    r.refuses({{shape({0, 3})}, {{"lo", 1}, {"hi", 0}}}, "axis 0");
    r.refuses({{shape({2, 0})}, {{"lo", 0}, {"hi", 0}}}, "axis 1");
  }
}

TEST_CASE("pytorch_177546: strides of empty results are row-major and dense") {
  Regression r("program p(x: f32[A, B, C]) { y = relu(x) return y }");
  const auto binding = ir::Binding::bind(r.program(), {{shape({2, 0, 0})}, {}});
  REQUIRE(binding.has_value());
  const auto strides = binding->strides_of(r.program().value(r.program().results()[0]));
  CHECK(strides.size() == 3);
  for (const std::int64_t s : strides) CHECK(s >= 0);
  r.same({{shape({2, 0, 0})}});
}

}  // namespace padlock::regressions
