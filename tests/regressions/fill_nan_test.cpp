// Class G: fills, types, NaN and signed zero.
#include <doctest/doctest.h>

#include "tests/regressions/regression.h"

namespace padlock::regressions {
namespace {

std::string fill_program(std::string_view type, std::string_view value) {
  return "program p(x: " + std::string(type) +
         "[n]) { y = pad(x, low = [1], high = [0], value = " + std::string(value) + ") return y }";
}

template <class T>
std::vector<T> all_bits() {
  std::vector<T> values(65536);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  return values;
}

/// relu of 16-bit floats, on bits: a negative number (NaN is none) becomes +0.
std::vector<std::uint16_t> relu_bits(std::uint16_t infinity) {
  std::vector<std::uint16_t> values = all_bits<std::uint16_t>();
  for (std::uint16_t& v : values)
    if (v > 0x8000 && v <= (0x8000 | infinity)) v = 0;
  return values;
}

}  // namespace

TEST_CASE("pytorch_170798: a 64-bit fill keeps every bit") {
  const std::vector<std::pair<std::string, std::uint64_t>> fills = {{"9007199254740993", 9007199254740993U},
                                                                    {"9223372036854775807", 9223372036854775807U},
                                                                    {"-9223372036854775808", std::uint64_t{1} << 63},
                                                                    {"-1", ~std::uint64_t{0}}};
  for (const auto& [text, bits] : fills) {
    Regression r(fill_program("i64", text));
    r.gives<std::uint64_t>({{shape({1})}}, {bytes_of<std::uint64_t>({42})}, {bits, 42});
  }
  Regression r(fill_program("u64", "18446744073709551615"));
  r.gives<std::uint64_t>({{shape({1})}}, {bytes_of<std::uint64_t>({42})}, {~std::uint64_t{0}, 42});
  Regression scalar("program p(x: i64[n], v: i64) { y = pad(x, low = [1], high = [0], value = v) return y }");
  for (const auto& [text, bits] : fills)
    scalar.gives<std::uint64_t>({{shape({1})}}, {bytes_of<std::uint64_t>({42})}, {bits, 42}, {bits});
}

TEST_CASE("pytorch_92038: a fill has the element's type, in every type") {
  for (const ir::DType t : ir::kAllDTypes) {
    Regression r(fill_program(ir::name_of(t), "1"));
    r.same({{shape({37})}});
    Regression zero("program p(x: " + std::string(ir::name_of(t)) +
                    "[n]) { y = pad(x, low = [3], high = [-1]) return y }");
    zero.same({{shape({37})}});
  }
}

TEST_CASE("pytorch_144462: a fill that is neither 0 nor in the data") {
  Regression r("program p(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [0, 1], value = 12345.5) return y }");
  r.gives<float>({{shape({1, 2})}}, {bytes_of<float>({1, 2})},
                 {12345.5F, 12345.5F, 12345.5F, 12345.5F, 12345.5F, 1, 2, 12345.5F});
}

TEST_CASE("openvino_19201: infinities, NaN payloads, -0 and denormals as fills") {
  const std::vector<std::pair<std::string, std::uint32_t>> fills = {{"inf", 0x7f800000},
                                                                    {"-inf", 0xff800000},
                                                                    {"nan", 0x7fc00000},
                                                                    {"-0", 0x80000000},
                                                                    {"-0.0", 0x80000000},
                                                                    {"bits(0x7fc00001)", 0x7fc00001},
                                                                    {"bits(0x7f800001)", 0x7f800001},
                                                                    {"bits(0xffffffff)", 0xffffffff},
                                                                    {"1e-45", 1},
                                                                    {"1e-40", 0x000116c2}};
  for (const auto& [text, bits] : fills) {
    Regression r(fill_program("f32", text));
    r.gives<std::uint32_t>({{shape({1})}}, {bytes_of<std::uint32_t>({0x3f800000})}, {bits, 0x3f800000});
  }
  Regression half(fill_program("f16", "65519"));
  half.gives<std::uint16_t>({{shape({1})}}, {bytes_of<std::uint16_t>({0})}, {0x7bff, 0});
  refuses_program(fill_program("f16", "65520"), "65520");
  refuses_program(fill_program("f16", "bits(0x10000)"), "bits");
  refuses_program(fill_program("f32", "1e39"), "1e39");
}

TEST_CASE("kulinseth_pytorch_169: the fill is no part of the code when it is a run-time value") {
  Regression r("program p(x: f32[n], v: f32) { y = pad(x, low = [1], high = [1], value = v) return y }");
  for (const std::uint32_t bits : {0x3f800000U, 0x80000000U, 0x7fc12345U, 0xff800001U})
    r.gives<std::uint32_t>({{shape({1})}}, {bytes_of<std::uint32_t>({0x40000000})}, {bits, 0x40000000, bits}, {bits});
}

TEST_CASE("pytorch_196039: relu keeps -0 and NaN payloads, on every 16-bit value") {
  Regression half("program p(x: f16[n]) { y = relu(x) return y }");
  half.gives<std::uint16_t>({{shape({65536})}}, {bytes_of(all_bits<std::uint16_t>())}, relu_bits(0x7c00));
  Regression brain("program p(x: bf16[n]) { y = relu(x) return y }");
  brain.gives<std::uint16_t>({{shape({65536})}}, {bytes_of(all_bits<std::uint16_t>())}, relu_bits(0x7f80));
  Regression single("program p(x: f32[n]) { y = relu(x) return y }");
  single.gives<std::uint32_t>({{shape({9})}},
                              {bytes_of<std::uint32_t>({0x80000000, 0, 0x7fc00001, 0xffc00001, 0x7f800001, 0xff800000,
                                                        0x80000001, 1, 0x7f800000})},
                              {0x80000000, 0, 0x7fc00001, 0xffc00001, 0x7f800001, 0, 0, 1, 0x7f800000});
}

TEST_CASE("pytorch_196799: relu of integers") {
  Regression r("program p(x: i8[n]) { y = relu(x) return y }");
  std::vector<std::int8_t> in(256), out(256);
  for (std::size_t i = 0; i < 256; ++i) in[i] = static_cast<std::int8_t>(i), out[i] = std::max<std::int8_t>(in[i], 0);
  r.gives<std::int8_t>({{shape({256})}}, {bytes_of(in)}, out);
}

TEST_CASE("triton_1566: maximum and minimum give NaN whichever operand is NaN") {
  Regression r(
      "program p(x: f32[n], y: f32[n]) { a = maximum(x, y) b = minimum(x, y) c = ne(a, a) d = ne(b, b) e = and(c, d) "
      "return e }");
  r.gives<std::uint8_t>({{shape({4}), shape({4})}},
                        {bytes_of<std::uint32_t>({0x7fc00000, 0x3f800000, 0x7fc00001, 0x3f800000}),
                         bytes_of<std::uint32_t>({0x3f800000, 0xffc00000, 0x7f800001, 0x40000000})},
                        {1, 1, 1, 0});
}

TEST_CASE("llvm_166912: +0 is above -0, in scalar code and in vectors") {
  Regression r(
      "program p(x: f32[n], y: f32[n]) { a = maximum(x, y) b = minimum(x, y) c = concat(a, b, axis = 0) return c }");
  const std::vector<std::uint32_t> zeros(17, 0), minus(17, 0x80000000);
  std::vector<std::uint32_t> expected(zeros);
  expected.insert(expected.end(), minus.begin(), minus.end());
  r.gives<std::uint32_t>({{shape({17}), shape({17})}}, {bytes_of(zeros), bytes_of(minus)}, expected);
  r.gives<std::uint32_t>({{shape({17}), shape({17})}}, {bytes_of(minus), bytes_of(zeros)}, expected);
}

TEST_CASE("mxnet_11115: relu after a pad whose fill is NaN") {
  Regression r(
      "program p(x: f32[n]) { y = pad(x, low = [2], high = [0], value = bits(0x7fc00123)) z = relu(y) return z }");
  r.gives<std::uint32_t>({{shape({1})}}, {bytes_of<std::uint32_t>({0xbf800000})}, {0x7fc00123, 0x7fc00123, 0});
}

TEST_CASE("pytorch_61635: a fill that its type cannot hold is refused") {
  refuses_program(fill_program("i32", "1.5"), "1.5");
  refuses_program(fill_program("i8", "128"), "128");
  refuses_program(fill_program("u8", "-1"), "-1");
  refuses_program(fill_program("u64", "18446744073709551616"), "18446744073709551616");
  refuses_program(fill_program("bool", "2"), "2");
}

}  // namespace padlock::regressions
