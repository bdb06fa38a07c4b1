// Class B: negative pads (crops). Coordinates, pads and extents are signed, one rule decides what is legal, and that no
// extent is below 0 is an obligation of every result.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {
namespace {

constexpr const char* kModes[] = {"constant", "edge", "reflect", "symmetric", "wrap"};

std::string pad_2d(const char* type, const char* mode) {
  return std::string("program p(x: ") + type + "[A, B], l0: dim, l1: dim, h0: dim, h1: dim) {" +
         "  y = pad(x, low = [l0, l1], high = [h0, h1], mode = " + mode + ") return y }";
}

}  // namespace

TEST_CASE("pytorch_194558: an extent below zero is refused, never a buffer of [2, -2]") {
  Regression r("program p(x: f32[R, C], hi: dim) { y = pad(x, low = [0, 0], high = [0, hi]) z = relu(y) return z }");
  r.refuses({{shape({2, 0})}, {{"hi", -2}}}, "y");
  r.refuses({{shape({2, 1})}, {{"hi", -2}}}, "y");
  r.same({{shape({2, 2})}, {{"hi", -2}}});
  r.same({{shape({2, 5})}, {{"hi", -2}}});
  r.proves(compiler::ObligationKind::extent, "axis 1 of z");
  refuses_program("program p(x: f32[2, 1]) { y = pad(x, low = [0, 0], high = [0, -2]) return y }", "");
}

TEST_CASE("pytorch_195582: a shrinking pad reads the rows that its producer has, and the same ones each time") {
  Regression r(
      "program p(x: f32[R, C], m: f32[C], hi: dim) {"
      "  n = mul(x, m) y = pad(n, low = [0, 0], high = [0, hi]) return y }");
  const Sizes sizes{{shape({3, 450}), shape({450})}, {{"hi", -400}}};
  CHECK(r.extents(sizes, "y") == std::vector<std::int64_t>{3, 50});
  r.same(sizes);
  r.same(sizes);
}

TEST_CASE("executorch_18018: pad amounts at the ends of 64 bits are errors that name the extent") {
  for (const char* mode : kModes) {
    Regression r(std::string("program p(x: i8[n], lo: dim, hi: dim) where lo >= -9223372036854775807, "
                             "lo <= 9223372036854775807, hi >= -9223372036854775807, hi <= 9223372036854775807 {"
                             "  y = pad(x, low = [lo], high = [hi], mode = ") +
                 mode + ") return y }");
    constexpr std::int64_t kHuge = std::int64_t{1} << 62;
    constexpr std::int64_t kMost = 9223372036854775807;
    for (const std::int64_t lo : {-kHuge, -kMost, std::int64_t{-1} << 31})
      r.refuses({{shape({8})}, {{"lo", lo}, {"hi", 1}}}, "y");
    for (const std::int64_t lo : {kHuge, kMost, std::int64_t{1} << 48})
      r.refuses({{shape({8})}, {{"lo", lo}, {"hi", lo}}}, "y");
    // Far apart, but the extent is small: legal, and exact.
    for (const std::int64_t far : {std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 47, kHuge - 9}) {
      r.same({{shape({8})}, {{"lo", far}, {"hi", 5 - far}}});
      r.same({{shape({8})}, {{"lo", 5 - far}, {"hi", far}}});
    }
  }
}

TEST_CASE("tt_mlir_6959: a pad of -1 is still -1 after printing and parsing") {
  const auto program = ir::parse_program("program p(x: f32[n]) { y = pad(x, low = [-1], high = [-1]) return y }");
  REQUIRE(program.has_value());
  const std::string text = to_string(*program);
  CHECK(text.find("low = [-1]") != std::string::npos);
  Regression r(text);
  r.gives<float>({{shape({4})}}, {bytes_of<float>({1, 2, 3, 4})}, {2, 3});
}

TEST_CASE("onnxruntime_2433: a negative begin crops the begin") {
  Regression r(pad_2d("f32", "constant"));
  r.gives<float>({{shape({2, 3})}, {{"l0", 0}, {"l1", -1}, {"h0", 1}, {"h1", 1}}},
                 {bytes_of<float>({1, 2, 3, 4, 5, 6})}, {2, 3, 0, 5, 6, 0, 0, 0, 0});
  r.same({{shape({5, 9})}, {{"l0", -2}, {"l1", -3}, {"h0", 4}, {"h1", 1}}});
}

TEST_CASE("onnxruntime_11828: reflect from the original extent when the low side is cropped") {
  Regression r(
      "program p(x: i32[n], lo: dim, hi: dim) { y = pad(x, low = [lo], high = [hi], mode = reflect) return y }");
  r.gives<std::int32_t>({{shape({4})}, {{"lo", -3}, {"hi", 3}}}, {bytes_of<std::int32_t>({0, 1, 2, 3})}, {3, 2, 1, 0});
  for (const std::int64_t n : {1, 2, 3, 7, 33}) r.same({{shape({n})}, {{"lo", 1 - n}, {"hi", n - 1}}});
}

TEST_CASE("oneflow_10581: cropping 100 from 4 is an error, not an abort") {
  for (const char* mode : kModes) {
    Regression r(pad_2d("f32", mode));
    r.refuses({{shape({1, 4})}, {{"l0", 0}, {"l1", -100}, {"h0", 0}, {"h1", 0}}}, "axis 1");
    r.refuses({{shape({1, 4})}, {{"l0", 0}, {"l1", -100}, {"h0", 0}, {"h1", -100}}}, "axis 1");
  }
}

TEST_CASE("iree_19935: mixed signs in rank 4, and crops of i8") {
  Regression r(
      "program p(x: f32[N, 168, H, W], a: dim) {"
      "  y = pad(x, low = [a, a, 0, 0], high = [-a, -a, 0, 0]) return y }");
  r.same({{shape({2, 168, 3, 5})}, {{"a", -1}}});
  r.same({{shape({2, 168, 3, 5})}, {{"a", 1}}});
  Regression small(pad_2d("i8", "constant"));
  small.gives<std::int8_t>({{shape({2, 3})}, {{"l0", 0}, {"l1", -1}, {"h0", 0}, {"h1", -1}}},
                           {bytes_of<std::int8_t>({1, 2, 3, 4, 5, 6})}, {2, 5});
}

TEST_CASE("pytorch_196457: every mode refuses the same extents with the same words") {
  std::vector<std::string> messages;
  for (const char* mode : kModes) {
    const auto program = ir::parse_program(pad_2d("f32", mode));
    REQUIRE(program.has_value());
    for (const std::int64_t bad : {0, 1}) {
      const std::int64_t h0 = bad == 0 ? -9 : 0, h1 = bad == 1 ? -9 : 0;
      const auto binding =
          ir::Binding::bind(*program, {{shape({4, 5})}, {{"l0", 0}, {"l1", 0}, {"h0", h0}, {"h1", h1}}});
      REQUIRE_FALSE(binding.has_value());
      CHECK(binding.error().message.find(bad == 0 ? "axis 0" : "axis 1") != std::string::npos);
      messages.push_back(binding.error().message);
    }
  }
  for (std::size_t i = 2; i < messages.size(); ++i) CHECK(messages[i] == messages[i % 2]);
}

TEST_CASE("onnx_tensorrt_847: what is not supported is a typed error before any code, never another operation") {
  session::Context context;
  const auto program = session::Program::from_text(pad_2d("i64", "constant"));
  REQUIRE(program.has_value());
  const auto code_of = [&](const session::CompileOptions& options) {
    const auto compiled = context.compile(*program, options);
    REQUIRE_FALSE(compiled.has_value());
    CHECK_FALSE(compiled.error().message.empty());
    return compiled.error().code;
  };
  CHECK(code_of({.device = {runtime::DeviceKind::cuda, 1000}}) == Code::unavailable);
  CHECK(code_of({.target = "sm_90"}) == Code::invalid_argument);
  CHECK(code_of({.target = "host:no-such-cpu"}) == Code::invalid_argument);
  CHECK(context.compile_count() == 0);
  refuses_program("program p(x: i64[n]) { y = pad(x, low = [-1], high = [0], mode = mirror) return y }", "mirror");
  // What the report's library lacks: negative and run-time amounts, and a fill that is not 0.
  Regression r("program p(x: i64[n], lo: dim) { y = pad(x, low = [lo], high = [-1], value = 7) return y }");
  r.gives<std::int64_t>({{shape({3})}, {{"lo", -1}}}, {bytes_of<std::int64_t>({1, 2, 3})}, {2});
  r.gives<std::int64_t>({{shape({3})}, {{"lo", 1}}}, {bytes_of<std::int64_t>({1, 2, 3})}, {7, 1, 2});
}

TEST_CASE("torch_opinfo: replicate with negative pads") {
  Regression r(
      "program p(x: f32[A, B, C, D], l: dim, r: dim, t: dim, b: dim) {"
      "  y = pad(x, low = [0, 0, t, l], high = [0, 0, b, r], mode = edge) return y }");
  const std::vector<std::vector<std::int64_t>> cases = {{5, 3, 4, 4, -4, 5, 0, 0},   {6, 2, 4, 4, 0, 0, 2, -4},
                                                        {5, 6, 4, 4, 5, -4, -4, 3},  {4, 2, 5, 5, -2, -1, 4, 6},
                                                        {2, 6, 5, 5, 8, -1, -1, -3}, {8, 1, 5, 5, -2, -1, -1, -3}};
  for (const auto& c : cases)
    r.same({{shape({c[0], c[1], c[2], c[3]})}, {{"l", c[4]}, {"r", c[5]}, {"t", c[6]}, {"b", c[7]}}});
}

}  // namespace padlock::regressions
