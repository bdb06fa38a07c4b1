// Classes I, M and N: rewrites around pads, numbers of compiles, and attributes of the code. The code states nothing
// about an address that the proof does not state about the access, and a guard has both sides.
#include <doctest/doctest.h>

#include <set>

#include "tests/regressions/regression.h"

namespace padlock::regressions {

TEST_CASE("pytorch_189895: the fill survives where the padded value is computed, not loaded") {
  Regression r(
      "program p(x: i64[n]) {"
      "  s = add(x, x) y = pad(s, low = [1], high = [0]) z = pad(y, low = [0], high = [1], value = 3) return z, s }");
  r.gives<std::int64_t>({{shape({3})}}, {bytes_of<std::int64_t>({1, 2, 3})}, {0, 2, 4, 6, 3});
  Regression twice(
      "program p(x: f32[n], lo: dim) {"
      "  y = pad(x, low = [lo], high = [0], value = 5) w = pad(x, low = [0], high = [lo], value = 7)"
      "  z = sub(y, w) return z }");
  for (const std::int64_t lo : {-3, 0, 1, 9}) twice.same({{shape({19})}, {{"lo", lo}}});
}

TEST_CASE("openxla_48715: a crop and a pad of one side do not cancel") {
  Regression r(
      "program p(x: i32[n]) {"
      "  c = pad(x, low = [-1], high = [0]) y = pad(c, low = [1], high = [0]) return y }");
  r.gives<std::int32_t>({{shape({2})}}, {bytes_of<std::int32_t>({669, -763})}, {0, -763});
}

TEST_CASE("openxla_48715: two pads, every pair of signs on each side, in every mode") {
  for (const char* inner : {"constant", "edge", "reflect"})
    for (const char* outer : {"constant", "symmetric", "wrap"}) {
      Regression r(std::string("program p(x: i16[n], a: dim, b: dim, c: dim, d: dim) {"
                               "  y = pad(x, low = [a], high = [b], mode = ") +
                   inner + ") z = pad(y, low = [c], high = [d], mode = " + outer + ") return z }");
      for (const std::int64_t a : {-2, 3})
        for (const std::int64_t b : {-3, 2})
          for (const std::int64_t c : {-4, 0, 4})
            for (const std::int64_t d : {-1, 5}) r.same({{shape({23})}, {{"a", a}, {"b", b}, {"c", c}, {"d", d}}});
    }
}

TEST_CASE("nvfuser_2490: symbolic widths do not merge either") {
  Regression r(
      "program p(x: f32[n], k: dim) {"
      "  c = pad(x, low = [0], high = [-k]) y = pad(c, low = [0], high = [k], value = 9) return y }");
  r.gives<float>({{shape({3})}, {{"k", 1}}}, {bytes_of<float>({1, 2, 3})}, {1, 2, 9});
  r.gives<float>({{shape({3})}, {{"k", -1}}}, {bytes_of<float>({1, 2, 3})}, {1, 2, 3});
}

TEST_CASE("onnxsim_290: a fill of 0 is not the neutral element of maximum") {
  Regression r(
      "program p(x: f32[n]) {"
      "  y = pad(x, low = [1], high = [0]) z = pad(x, low = [0], high = [1]) w = maximum(y, z) return w }");
  r.gives<float>({{shape({2})}}, {bytes_of<float>({-1, -2})}, {0, -1, 0});
}

TEST_CASE("tinygrad_1223: an operation crosses a pad with its fill or not at all") {
  Regression divide(
      "program p(x: f32[n]) { y = pad(x, low = [1], high = [1]) z = div(1, y) w = pad(z, low = [1], high = [0]) return "
      "w }");
  divide.gives<std::uint32_t>({{shape({1})}}, {bytes_of<std::uint32_t>({0x40000000})},
                              {0, 0x7f800000, 0x3f000000, 0x7f800000});
  Regression before("program p(x: f32[n]) { y = pad(x, low = [1], high = [0], value = -2) z = relu(y) return z }");
  before.gives<float>({{shape({2})}}, {bytes_of<float>({-1, 3})}, {0, 0, 3});
  Regression after("program p(x: f32[n]) { y = relu(x) z = pad(y, low = [1], high = [0], value = -2) return z }");
  after.gives<float>({{shape({2})}}, {bytes_of<float>({-1, 3})}, {-2, 0, 3});
  Regression leaky(
      "program p(x: f32[n]) { y = pad(x, low = [1], high = [0], value = -2) z = leaky_relu(y, alpha = 0.5) return z }");
  leaky.gives<float>({{shape({2})}}, {bytes_of<float>({-1, 3})}, {-1, -0.5F, 3});
}

TEST_CASE("pytorch_175727: a producer with two users under a pad") {
  Regression r(
      "program p(x: f32[n]) {"
      "  s = sqrt(x) y = pad(s, low = [2], high = [-1], value = 4) z = mul(s, s) return y, z }");
  r.same({{shape({129})}});
}

TEST_CASE("pytorch_97348: one kernel for a hundred pad amounts") {
  Regression r("program p(x: f32[A, B], lo: dim, hi: dim) { y = pad(x, low = [0, lo], high = [0, hi]) return y }");
  for (std::int64_t k = 0; k < 100; ++k) r.same({{shape({2, 11})}, {{"lo", k % 13 - 5}, {"hi", k - 6}}});
}

TEST_CASE("pytorch_149635: max(n, 16) is an expression, not a branch") {
  Regression r("program p(x: f32[n]) { y = pad(x, low = [0], high = [max(n, 16) - n]) return y }");
  for (const std::int64_t n : {0, 1, 15, 16, 17, 40}) {
    CHECK(r.extents({{shape({n})}}, "y") == std::vector<std::int64_t>{std::max<std::int64_t>(n, 16)});
    r.same({{shape({n})}});
  }
}

TEST_CASE("pytorch_106067: 0 and 1 are sizes like any other") {
  Regression r("program p(x: f32[A, B]) { y = pad(x, low = [0, 1], high = [0, 1], mode = constant) return y }");
  for (const std::int64_t n : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 255, 256, 257}) {
    r.same({{shape({1, n})}});
    r.same({{shape({n, 1})}});
  }
}

TEST_CASE("llvm_82469: no address is promised to be in bounds before it is" * doctest::test_suite("host code")) {
  Regression r(
      "program p(x: f32[A, B], lo: dim) {"
      "  y = pad(x, low = [lo, lo], high = [0, 1], mode = reflect) z = pad(y, low = [lo, lo], high = [lo, 0]) return z "
      "}");
  const std::string text = r.emit(session::Stage::llvm);
  REQUIRE(text.find("define") != std::string::npos);
  for (const char* promise : {"inbounds", " nuw", " nsw", "dereferenceable", "noalias", "!range"})
    CHECK_MESSAGE(text.find(promise) == std::string::npos, promise);
}

TEST_CASE("llvm_99490: an input that is read backwards is promised to be no longer than it is" *
          doctest::test_suite("host code")) {
  Regression r(
      "program p(x: f64[n], lo: dim, hi: dim) where n >= 1, 0 <= lo < n, 0 <= hi < n {"
      "  y = pad(x, low = [lo], high = [hi], mode = reflect) return y }");
  r.proves(compiler::ObligationKind::load, "x[");
  CHECK(r.emit(session::Stage::llvm).find("dereferenceable") == std::string::npos);
  for (const std::int64_t n : {1, 2, 9, 64}) r.same({{shape({n})}, {{"lo", n - 1}, {"hi", n / 2}}});
}

TEST_CASE("intel_triton_3429: coordinates below 0 and beyond the extent, in both directions at once") {
  Regression r("program p(x: f32[A, B], k: dim) { y = pad(x, low = [k, -k], high = [-k, k], value = 6) return y }");
  for (const std::int64_t k : {-9, -5, -1, 0, 1, 5, 9}) r.same({{shape({5, 7})}, {{"k", k}}});
}

TEST_CASE("onnxruntime_26398: optional arguments may be absent") {
  Regression r(
      "program p(x: i32[n]) { y = pad(x, low = [1], high = [1]) z = slice(y, start = [0], limit = [2]) return z }");
  r.gives<std::int32_t>({{shape({2})}}, {bytes_of<std::int32_t>({5, 6})}, {0, 5});
  refuses_program("program p(x: i32[n]) { y = pad(x, low = [1]) return y }", "high");
  refuses_program("program p(x: i32[n]) { y = slice(x, start = [1]) return y }", "limit");
  refuses_program("program p(x: i32[n]) { y = concat(x, x) return y }", "axis");
}

}  // namespace padlock::regressions
