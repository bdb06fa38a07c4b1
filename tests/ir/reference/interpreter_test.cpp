#include "ir/reference/interpreter.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/common/fp_setting.h"
#include "tests/ir/reference/reference_run.h"

using namespace padlock;
using namespace padlock::ir;
using namespace padlock::ir::testing;

namespace {

using I32 = std::vector<std::int32_t>;
using F32 = std::vector<float>;

/// `body` once for each of 1 .. count: %i is the number, %0 the name before (x, y1, y2, ...).
std::string chain(int count, std::string_view body) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    std::string line(body);
    const auto replace = [&](std::string_view what, const std::string& with) {
      for (std::size_t at = 0; (at = line.find(what, at)) != std::string::npos; at += with.size())
        line.replace(at, what.size(), with);
    };
    replace("%0", i == 1 ? "x" : fmt::format("y{}", i - 1));
    replace("%i", fmt::format("{}", i));
    text += line + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE(
    "take: what an index names, and the fill where it names nothing; a negative one does not count from the end") {
  using I64 = std::vector<std::int64_t>;
  const char* rows = "program p(x: i32[R, C], i: i64[N]) { y = take(x, i, axis = 0, value = -9) return y }";
  const auto table = ir::testing::iota<std::int32_t>({3, 2});
  const std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  CHECK(run<std::int32_t>(rows, {table, ir::testing::tensor<std::int64_t>({6}, {2, -1, 0, 3, least, most})}) ==
        I32{4, 5, -9, -9, 0, 1, -9, -9, -9, -9, -9, -9});
  const char* columns = "program p(x: i32[R, C], i: i32[N, 1]) { y = take(x, i, axis = 1) return y }";
  CHECK(run<std::int32_t>(columns, {table, ir::testing::tensor<std::int32_t>({2, 1}, {1, 2})}) ==
        I32{1, 0, 3, 0, 5, 0});
  const char* both =
      "program p(x: i32[R, C], i: i64[N, 1], j: i64[M], f: i32[M]) { y = take(x, i, j, axes = [0, 1], value = f) "
      "return y }";
  CHECK(run<std::int32_t>(both, {table, ir::testing::tensor<std::int64_t>({2, 1}, {2, 5}),
                                 ir::testing::tensor<std::int64_t>({3}, {1, 0, -1}),
                                 ir::testing::tensor<std::int32_t>({3}, {70, 80, 90})}) == I32{5, 4, 90, 70, 80, 90});
  const char* twice =
      "program p(x: i64[R], i: i64[N]) { j = take(x, i, axis = 0, value = -1) y = take(x, j, axis = 0) "
      "return y }";
  CHECK(run<std::int64_t>(twice, {ir::testing::tensor<std::int64_t>({3}, {2, 0, 1}),
                                  ir::testing::tensor<std::int64_t>({4}, {0, 1, 2, 3})}) == I64{1, 2, 0, 0});
}

TEST_CASE("search: the number of elements at most x where they ascend, and else what its loop leaves") {
  using I64 = std::vector<std::int64_t>;
  const char* text = "program p(a: i32[N], x: i32[M]) { y = search(a, x) return y }";
  const auto search = [&](std::vector<std::int32_t> a, std::vector<std::int32_t> x) {
    const auto n = static_cast<std::int64_t>(a.size()), m = static_cast<std::int64_t>(x.size());
    return run<std::int64_t>(text, {ir::testing::tensor<std::int32_t>({n}, std::move(a)),
                                    ir::testing::tensor<std::int32_t>({m}, std::move(x))});
  };
  CHECK(search({0, 3, 3, 7}, {-1, 0, 1, 3, 6, 7, 8}) == I64{0, 1, 1, 3, 3, 4, 4});
  CHECK(search({}, {5}) == I64{0});
  CHECK(search({7, 3, 0}, {3}) == I64{3});  // 3 <= 3: right, 0 <= 3: right
  CHECK(search({7, 3, 0}, {2}) == I64{0});  // 3 > 2: left, 7 > 2: left
}

TEST_CASE("a size as a value is converted as a cast converts an i64") {
  const char* text = "program p(x: f32[S, T]) { y = add(x, f32(S * 10 + T)) n = add(u8(S + 254), 0) return y, n }";
  CHECK(run<float>(text, {ir::testing::iota<float>({2, 3})}) == std::vector<float>{23, 24, 25, 26, 27, 28});
  CHECK(run<std::uint8_t>("program p(x: f32[S]) { n = add(u8(S + 254), 0) return n }",
                          {ir::testing::iota<float>({3})}) == std::vector<std::uint8_t>{1});
}

TEST_CASE("iota counts along an axis, in the type as a cast does") {
  CHECK(run<std::int32_t>("program p(N: dim) { y = iota(i32, shape = [2, 3], axis = 1) return y }", {}, {{"N", 0}}) ==
        I32{0, 1, 2, 0, 1, 2});
  CHECK(run<std::int32_t>("program p(N: dim) { y = iota(i32, shape = [2, 3], axis = 0) return y }", {}, {{"N", 0}}) ==
        I32{0, 0, 0, 1, 1, 1});
  const auto bytes = run<std::uint8_t>(
      "program p(N: dim) where N >= 0 { y = iota(u8, shape = [N], axis = 0) return y }", {}, {{"N", 258}});
  CHECK(bytes[255] == 255);
  CHECK(bytes[257] == 1);
}

TEST_CASE("a fill may be a tensor that broadcasts to the result") {
  CHECK(run<std::int32_t>("program p(x: i32[2, 1], z: i32[2, 1]) { y = pad(x, low = [0, 1], high = [0, 1], value = z) "
                          "return y }",
                          {tensor<std::int32_t>({2, 1}, {1, 2}), tensor<std::int32_t>({2, 1}, {7, 8})}) ==
        I32{7, 1, 7, 8, 2, 8});
}

TEST_CASE("reshape keeps the elements in their order") {
  const std::string text =
      "program p(x: i32[A, B], k: dim) where k >= 0 { t = transpose(x, perm = [1, 0]) y = reshape(t, shape = [k, 3]) z "
      "= "
      "reshape(y, shape = [3 * k]) return z }";
  CHECK(run<std::int32_t>(text, {ir::testing::iota<std::int32_t>({2, 3})}, {{"k", 2}}) == I32{0, 3, 1, 4, 2, 5});
  CHECK(run<std::int32_t>(text, {ir::testing::iota<std::int32_t>({5, 0})}, {{"k", 0}}).empty());
}

TEST_CASE("pad: published results") {
  const std::string head = "program p(x: i32[N]) { y = pad(x, ";
  const auto pad = [&](const std::string& rest, const I32& x) {
    return run<std::int32_t>(head + rest + ") return y }",
                             {tensor<std::int32_t>({static_cast<std::int64_t>(x.size())}, x)});
  };
  CHECK(pad("low = [1], high = [5], interior = [2]", {1, 2, 3}) == I32{0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0});  // IREE
  CHECK(pad("low = [-1], high = [-1], interior = [1]", {1, 2, 3}) == I32{0, 2, 0});
  CHECK(pad("low = [5], high = [2], mode = wrap", {0, 1, 2, 3}) == I32{3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1});
  CHECK(pad("low = [1], high = [3], mode = reflect", {1, 2, 3, 4}) == I32{2, 1, 2, 3, 4, 3, 2, 1});
  CHECK(pad("low = [1], high = [3], mode = symmetric", {1, 2, 3, 4}) == I32{1, 1, 2, 3, 4, 4, 3, 2});
  CHECK(pad("low = [-1], high = [2], mode = edge", {1, 2, 3}) == I32{2, 3, 3, 3});
  CHECK(pad("low = [-1], high = [2], mode = wrap", {0, 1}) == I32{1, 0, 1});
  CHECK(pad("low = [3], high = [-2], value = 9", {5}) == I32{9, 9});
  CHECK(pad("low = [2], high = [1], value = 7", {}) == I32{7, 7, 7});
  CHECK(pad("low = [-2], high = [-1]", {1, 2, 3}).empty());
  CHECK(pad("low = [0], high = [0], mode = reflect", {}).empty());
}

TEST_CASE("onnxruntime_16401: reflect beyond the extent, on its axis only") {
  const auto y =
      run<float>("program p(x: f32[3, 2]) { y = pad(x, low = [0, 2], high = [0, 0], mode = reflect) return y }",
                 {tensor<float>({3, 2}, {1.0F, 1.2F, 2.3F, 3.4F, 4.5F, 5.7F})});
  CHECK(y == F32{1.0F, 1.2F, 1.0F, 1.2F, 2.3F, 3.4F, 2.3F, 3.4F, 4.5F, 5.7F, 4.5F, 5.7F});
}

TEST_CASE("onnxruntime_6442: reflecting rows reverses no row") {
  const auto y =
      run<std::int32_t>("program p(x: i32[3, 4]) { y = pad(x, low = [1, 0], high = [0, 0], mode = reflect) return y }",
                        {iota<std::int32_t>({3, 4})});
  CHECK(y == I32{4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("mhlo and xla: interior, low and high on several axes") {
  const auto y = run<std::int32_t>(
      "program p(x: i32[1, 2, 3]) { y = pad(x, low = [0, 1, 2], high = [1, 1, 0], interior = [0, 0, 1], value = 42) "
      "return y }",
      {tensor<std::int32_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6})});
  I32 expected(2 * 4 * 7, 42);
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 3; ++column)
      expected[(1 + row) * 7 + 2 + 2 * column] = static_cast<std::int32_t>(3 * row + column + 1);
  CHECK(y == expected);
  const auto xla = run<float>(
      "program p(x: f32[2, 2]) { y = pad(x, low = [1, 0], high = [2, 1], interior = [1, 0], value = 9.5) return y }",
      {tensor<float>({2, 2}, {1, 2, 3, 4})});
  CHECK(xla == F32{9.5F, 9.5F, 9.5F, 1, 2, 9.5F, 9.5F, 9.5F, 9.5F, 3, 4, 9.5F, 9.5F, 9.5F, 9.5F, 9.5F, 9.5F, 9.5F});
}

TEST_CASE("pytorch_170798: a fill keeps every bit") {
  const auto fill = [](const std::string& type, const std::string& value, auto zero) {
    const std::vector<decltype(zero)> none;
    return run<decltype(zero)>(
        fmt::format("program p(x: {}[0]) {{ y = pad(x, low = [1], high = [0], value = {}) return y }}", type, value),
        {tensor({0}, none)})[0];
  };
  CHECK(fill("i64", "9007199254740993", std::int64_t{}) == 9007199254740993);
  CHECK(fill("i64", "9223372036854775807", std::int64_t{}) == std::numeric_limits<std::int64_t>::max());
  CHECK(fill("i64", "-9223372036854775808", std::int64_t{}) == std::numeric_limits<std::int64_t>::min());
  CHECK(fill("u64", "18446744073709551615", std::uint64_t{}) == ~std::uint64_t{0});
  CHECK(fill("f32", "bits(0x7f800001)", std::uint32_t{}) == 0x7f800001);
  CHECK(fill("f32", "-0", std::uint32_t{}) == 0x80000000);
  CHECK(fill("f16", "-inf", std::uint16_t{}) == 0xfc00);
  CHECK(fill("bool", "true", std::uint8_t{}) == 1);
}

TEST_CASE("slice, concat, transpose and broadcast move elements") {
  CHECK(run<std::int32_t>(
            "program p(x: i32[4, 5]) { y = slice(x, start = [1, 0], limit = [4, 5], step = [2, 3]) return y }",
            {iota<std::int32_t>({4, 5})}) == I32{5, 8, 15, 18});
  CHECK(run<std::int32_t>("program p(x: i32[2, A], z: i32[2, B]) { y = concat(x, z, x, axis = 1) return y }",
                          {iota<std::int32_t>({2, 2}), iota<std::int32_t>({2, 1})}) ==
        I32{0, 1, 0, 0, 1, 2, 3, 1, 2, 3});
  CHECK(run<std::int32_t>("program p(x: i32[2, A], z: i32[2, B]) { y = concat(x, z, x, axis = 1) return y }",
                          {iota<std::int32_t>({2, 0}), iota<std::int32_t>({2, 1})}) == I32{0, 1});
  CHECK(run<std::int32_t>("program p(x: i32[2, 3, 2]) { y = transpose(x, perm = [2, 0, 1]) return y }",
                          {iota<std::int32_t>({2, 3, 2})}) == I32{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
  CHECK(run<std::int32_t>("program p(x: i32[2, 1]) { y = broadcast(x, shape = [3, 4, 2], axes = [2, 0]) return y }",
                          {tensor<std::int32_t>({2, 1}, {7, 8})}) ==
        I32{7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8, 7, 8});
  CHECK(run<std::int32_t>("program p(x: i32[2, 3]) { y = broadcast(x, shape = [3, 2], axes = [1, 0]) return y }",
                          {iota<std::int32_t>({2, 3})}) == I32{0, 3, 1, 4, 2, 5});
  CHECK(run<std::int32_t>("program p(x: i32[N], n: dim) { y = broadcast(x, shape = [n, N], axes = [1]) return y }",
                          {iota<std::int32_t>({3})}, {{"n", 2}}) == I32{0, 1, 2, 0, 1, 2});
}

TEST_CASE("two pads whose signs differ do not add") {
  CHECK(run<std::int32_t>("program p(x: i32[3]) { a = pad(x, low = [0], high = [-1]) "
                          "b = pad(a, low = [0], high = [1], value = 9) return b }",
                          {tensor<std::int32_t>({3}, {1, 2, 3})}) == I32{1, 2, 9});
}

TEST_CASE("elementwise operands broadcast as in NumPy; scalars and literals everywhere") {
  CHECK(
      run<std::int32_t>("program p(x: i32[2, 1, 2], z: i32[3, 1]) { y = sub(x, z) return y }",
                        {tensor<std::int32_t>({2, 1, 2}, {10, 20, 30, 40}), tensor<std::int32_t>({3, 1}, {1, 2, 3})}) ==
      I32{9, 19, 8, 18, 7, 17, 29, 39, 28, 38, 27, 37});
  CHECK(run<float>("program p(x: f32[N], s: f32) { a = add(x, s) y = mul(a, 2) return y }",
                   {tensor<float>({2}, {1, 2})}, {}, {0x3f000000}) == F32{3, 5});
  CHECK(run<float>("program p(s: f32) { y = add(s, 1) return y }", {}, {}, {0x3f000000}) == F32{1.5F});
  CHECK(run<float>("program p(x: f32[N], v: f32) { y = pad(x, low = [1], high = [0], value = v) return y }",
                   {tensor<float>({1}, {3})}, {}, {0xbf800000}) == F32{-1, 3});
  CHECK(run<std::int32_t>("program p(c: bool[2, 1], x: i32[2]) { y = select(c, x, -1) return y }",
                          {tensor<std::uint8_t>({2, 1}, {0, 0x40}), tensor<std::int32_t>({2}, {5, 6})}) ==
        I32{-1, -1, 5, 6});
  CHECK(run<float>("program p(x: f32[3]) { y = clamp(x, lo = -1, hi = 1) z = leaky_relu(y, alpha = 0.5) return z }",
                   {tensor<float>({3}, {-4, 0.5F, 7})}) == F32{-0.5F, 0.5F, 1});
  CHECK(run<std::uint8_t>("program p(x: f32[2], z: f32[2]) { y = lt(x, z) return y }",
                          {tensor<float>({2}, {1, NAN}), tensor<float>({2}, {2, 2})}) ==
        std::vector<std::uint8_t>{1, 0});
  CHECK(run<std::int8_t>("program p(x: f32[3]) { y = cast(x, i8) return y }",
                         {tensor<float>({3}, {-1.9F, 300, NAN})}) == std::vector<std::int8_t>{-1, 127, 0});
}

TEST_CASE("pad_relu: the example of the language") {
  const auto y = run<float>(R"(
program pad_relu(x: f32[B, S], lo: dim)
where 1 <= B <= 4096, 0 <= S <= 65536, -8 <= lo <= 8, S + lo >= 0
{
  y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)
  z = relu(y)
  return z, y
})",
                            {tensor<float>({1, 3}, {-1, 2, -0.0F})}, {{"lo", -1}});
  CHECK(y == F32{2, -0.0F, 0, 0, 0, 0, 0, 0});
  CHECK(std::signbit(y[1]));
  CHECK_FALSE(std::signbit(y[2]));  // relu of the fill
}

TEST_CASE("inputs are read through their strides") {
  // A row stride with gaps, an expanded axis, channels-last.
  CHECK(run<std::int32_t>("program p(x: i32[2, 3] strides [R, 1]) { y = neg(x) return y }",
                          {tensor<std::int32_t>({2, 3}, {1, 2, 3, 99, 99, 4, 5, 6}, {{5, 1}})}) ==
        I32{-1, -2, -3, -4, -5, -6});
  CHECK(run<std::int32_t>("program p(x: i32[3, 2] strides [0, 1]) { y = neg(x) return y }",
                          {tensor<std::int32_t>({3, 2}, {1, 2}, {{0, 1}})}) == I32{-1, -2, -1, -2, -1, -2});
  CHECK(run<std::int32_t>(
            "program p(x: i32[N, C, H, W] strides [H*W*C, 1, W*C, C]) { y = slice(x, start = [0, 0, 0, 0], limit = "
            "[N, C, H, W]) return y }",
            {tensor<std::int32_t>({1, 2, 2, 2}, {0, 10, 1, 11, 2, 12, 3, 13}, {{8, 1, 4, 2}})}) ==
        I32{0, 1, 2, 3, 10, 11, 12, 13});
  // An axis of extent 1 has any stride.
  CHECK(run<std::int32_t>("program p(x: i32[A, 2] strides [2, 1]) { y = neg(x) return y }",
                          {tensor<std::int32_t>({1, 2}, {1, 2}, {{1 << 30, 1}})}) == I32{-1, -2});
}

TEST_CASE("bool bytes move as they are and are read as byte != 0") {
  const std::vector<std::uint8_t> bytes = {0, 1, 0x40};
  CHECK(run<std::uint8_t>("program p(x: bool[3]) { y = pad(x, low = [1], high = [0], value = true) return y }",
                          {tensor<std::uint8_t>({3}, bytes)}) == std::vector<std::uint8_t>{1, 0, 1, 0x40});
  CHECK(run<std::uint8_t>("program p(x: bool[3]) { y = or(x, false) return y }", {tensor<std::uint8_t>({3}, bytes)}) ==
        std::vector<std::uint8_t>{0, 1, 1});
  CHECK(run<std::uint8_t>("program p(x: bool[3]) { return x }", {tensor<std::uint8_t>({3}, bytes)}) == bytes);
}

TEST_CASE("an open NaN stays open wherever it is moved, a given one never is") {
  const auto started = start(R"(
program p(x: f32[2]) {
  s = sub(x, x)
  a = pad(s, low = [1], high = [1], value = nan)
  b = concat(a, x, axis = 0)
  c = relu(b)
  d = select(true, c, 0)
  return d
})",
                             {tensor<float>({2}, {INFINITY, 1})});
  std::vector<std::uint32_t> y(6);
  std::vector<bool> open;
  REQUIRE(started->interpreter.evaluate(started->result(), std::as_writable_bytes(std::span(y)), &open).has_value());
  CHECK(open == std::vector<bool>{false, true, false, false, false, false});
  CHECK(y[0] == 0x7fc00000);
  CHECK(std::isnan(std::bit_cast<float>(y[1])));
  CHECK(y[2] == 0);
  CHECK(y[3] == 0x7fc00000);
  CHECK(y[4] == 0x7f800000);
}

TEST_CASE("sharing costs nothing: a DAG is not walked as a tree") {
  CHECK(run<std::int64_t>("program p(x: i64[1]) {\n" + chain(40, "y%i = add(%0, %0)") + "return y40 }",
                          {tensor<std::int64_t>({1}, {3})}) == std::vector<std::int64_t>{3LL << 40});
  // Movement with two users at the same coordinates is shared too.
  CHECK(
      run<std::int64_t>("program p(x: i64[1, 1]) {\n" +
                            chain(60,
                                  "a%i = transpose(%0, perm = [1, 0]) b%i = slice(%0, start = [0, 0], limit = [1, 1]) "
                                  "y%i = add(a%i, b%i)") +
                            "return y60 }",
                        {tensor<std::int64_t>({1, 1}, {3})}) == std::vector<std::int64_t>{3LL << 60});
  const auto started = start("program p(x: i64[N]) {\n" + chain(40, "y%i = concat(%0, %0, axis = 0)") + "return y40 }",
                             {tensor<std::int64_t>({3}, {7, 8, 9})});
  const std::int64_t last[] = {(3LL << 40) - 1};
  CHECK(started->interpreter.element(started->result(), last)->bits == 9);
}

TEST_CASE("what is too deep or too wide is refused with the statement named") {
  const auto deep = start("program p(x: f32[1]) {\n" + chain(Interpreter::kMaxNesting, "y%i = neg(%0)") + "return y1 }",
                          {tensor<float>({1}, {1})});
  const std::int64_t origin[] = {0};
  const auto last = deep->program->find(fmt::format("y{}", Interpreter::kMaxNesting));
  const auto fits = deep->program->find(fmt::format("y{}", Interpreter::kMaxNesting - 1));
  REQUIRE(last);
  REQUIRE(fits);
  REQUIRE(deep->interpreter.element(*fits, origin).has_value());
  CHECK(deep->interpreter.element(*fits, origin)->bits == 0xbf800000);
  const auto refused = deep->interpreter.element(*last, origin);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Code::resource_exhausted);
  CHECK(refused.error().message == "statement 'y4096' nests 4097 operations deep; the interpreter takes 4096");
  std::vector<std::byte> out(4);
  CHECK(deep->interpreter.evaluate(*last, out).error().message == refused.error().message);

  // Each level adds a rotated copy, so an element of level n is made of 2^n different others. Every add and every pad
  // is a step each time it is reached: 2^(n+1) - 2 in all.
  const auto element_of_level = [&](int levels) {
    std::string text = "program p(x: i32[N] strides [0]) {\n";
    for (int i = 0; i < levels; ++i)
      text += fmt::format("a{0} = pad({1}, low = [{2}], high = [-{2}], mode = wrap) y{3} = add(a{0}, {1})\n", i,
                          i == 0 ? "x" : fmt::format("y{}", i), 1LL << i, i + 1);
    const auto wide =
        start(text + fmt::format("return y{} }}", levels), {tensor<std::int32_t>({1LL << 40}, {1}, {{0}})});
    return wide->interpreter.element(wide->result(), origin);
  };
  const auto widest = element_of_level(15);
  REQUIRE(widest.has_value());
  CHECK(widest->bits == 1 << 15);
  for (const int levels : {16, 30}) {
    const auto too_wide = element_of_level(levels);
    REQUIRE_FALSE(too_wide.has_value());
    CHECK(too_wide.error().code == Code::resource_exhausted);
    CHECK(too_wide.error().message.starts_with("an element takes more than 65536 steps, at statement '"));
  }
}

TEST_CASE("nothing is read outside an input, nor asked outside a value") {
  auto started = start("program p(x: i32[2, 2]) { y = neg(x) return y }",
                       {{.shape = {.extents = {2, 2}, .strides = {}}, .storage = std::vector<std::byte>(15)}});
  const std::int64_t inside[] = {1, 0}, beyond[] = {1, 1};
  CHECK(started->interpreter.element(started->result(), inside).has_value());
  const auto refused = started->interpreter.element(started->result(), beyond);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Code::internal);
  CHECK(refused.error().message == "element 3 of 'x' is outside its storage of 3 elements");

  const std::int64_t negative[] = {0, -1}, high[] = {2, 0}, short_one[] = {0};
  CHECK(started->interpreter.element(started->result(), negative).error().message ==
        "coordinate -1 on axis 1 of 'y' is outside [0, 2)");
  CHECK(started->interpreter.element(started->result(), high).error().message ==
        "coordinate 2 on axis 0 of 'y' is outside [0, 2)");
  CHECK(started->interpreter.element(started->result(), short_one).error().message ==
        "'y' has rank 2, but 1 coordinates are given");
  CHECK(started->interpreter.element(99, inside).error().code == Code::invalid_argument);
  std::vector<std::byte> out(12);
  CHECK(started->interpreter.evaluate(started->result(), out).error().message == "'y' takes 16 bytes, 12 are given");

  Interpreter none(started->binding, {}, {});
  CHECK(none.element(started->result(), inside).error().message == "no input is given for 'x'");
}

TEST_CASE("an interpreter evaluates again after an error") {
  auto started = start("program p(x: i32[2]) { y = add(x, x) z = add(y, y) return z }",
                       {{.shape = {.extents = {2}, .strides = {}}, .storage = bytes_of<std::int32_t>({5})}});
  const std::int64_t first[] = {0}, second[] = {1};
  CHECK_FALSE(started->interpreter.element(started->result(), second).has_value());
  REQUIRE(started->interpreter.element(started->result(), first).has_value());
  CHECK(started->interpreter.element(started->result(), first)->bits == 20);
}

TEST_CASE("a caller's flush modes and rounding change nothing, and are restored") {
  const std::uint64_t saved = padlock::testing::fp_setting();
  auto started = start("program p(x: f32[3]) { y = div(x, 3) return y }", {tensor<float>({3}, {1e-44F, 1, 2})});
  std::vector<float> expected(3), actual(3);
  REQUIRE(started->interpreter.evaluate(started->result(), std::as_writable_bytes(std::span(expected))).has_value());
  padlock::testing::set_fp_setting(padlock::testing::kHostileFpSetting);
  const std::uint64_t hostile = padlock::testing::fp_setting();
  const bool evaluated =
      started->interpreter.evaluate(started->result(), std::as_writable_bytes(std::span(actual))).has_value();
  const std::uint64_t after = padlock::testing::fp_setting();
  padlock::testing::set_fp_setting(saved);
  CHECK(evaluated);
  CHECK(after == hostile);
  CHECK(std::bit_cast<std::uint32_t>(actual[0]) == 2);  // 7 ulps / 3
  CHECK(std::bit_cast<std::uint32_t>(actual[2]) == 0x3f2aaaab);
  CHECK(actual == expected);
}
