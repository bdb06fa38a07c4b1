#include "ir/reference/scalar_ops.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "ir/reference/numeric.h"
#include "tests/common/environment.h"

using namespace padlock;
using namespace padlock::ir;

namespace {

constexpr std::uint64_t kNan = 0x7fc00000;      // f32, the language's `nan`
constexpr std::uint64_t kPayload = 0xffc12345;  // negative, quiet, with a payload
constexpr std::uint64_t kSignalling = 0x7f800001;
constexpr std::uint64_t kInf = 0x7f800000;
constexpr std::uint64_t kMinusInf = 0xff800000;
constexpr std::uint64_t kZero = 0;
constexpr std::uint64_t kMinusZero = 0x80000000;
constexpr std::uint64_t kOne = 0x3f800000;
constexpr std::uint64_t kMinusOne = 0xbf800000;
constexpr std::uint64_t kTiny = 1;  // the least subnormal

Element apply(Op op, DType type, std::vector<Element> operands) {
  const bool truth = info_of(op).op_class == OpClass::comparison || info_of(op).op_class == OpClass::logical2 ||
                     info_of(op).op_class == OpClass::logical1;
  return apply_elementwise(op, type, truth ? DType::boolean : type, operands);
}

std::uint64_t bits_of(Op op, DType type, std::vector<Element> operands) {
  const Element element = apply(op, type, std::move(operands));
  CHECK_FALSE(element.nan_open);
  return element.bits;
}

std::uint64_t f32(Op op, std::vector<Element> operands) { return bits_of(op, DType::f32, std::move(operands)); }

/// Returns whether f64 can hold the sum: significands of at most 11 bits, not too far apart. Zeros, infinities and NaN
/// are always fine.
bool f64_holds_sum(double x, double y) {
  if (x == 0 || y == 0 || !std::isfinite(x) || !std::isfinite(y)) return true;
  return std::abs(std::ilogb(x) - std::ilogb(y)) < 40;
}

bool is_open_nan(const Element& element, DType type = DType::f32) {
  return element.nan_open && is_nan(type, element.bits);
}

}  // namespace

TEST_CASE("same_element admits another NaN only where it is open") {
  CHECK(same_element(DType::f32, {.bits = kOne}, kOne));
  CHECK_FALSE(same_element(DType::f32, {.bits = 0}, kMinusZero));
  CHECK(same_element(DType::f32, {.bits = kNan, .nan_open = true}, kPayload));
  CHECK(same_element(DType::f32, {.bits = kNan, .nan_open = true}, kSignalling));
  CHECK_FALSE(same_element(DType::f32, {.bits = kNan, .nan_open = true}, kInf));
  CHECK_FALSE(same_element(DType::f32, {.bits = kNan}, kPayload));
  CHECK_FALSE(same_element(DType::i32, {.bits = 1, .nan_open = true}, kNan));
}

TEST_CASE("pytorch_196039: relu keeps -0 and every NaN bit") {
  CHECK(f32(Op::relu, {{kMinusZero}}) == kMinusZero);
  CHECK(f32(Op::relu, {{0}}) == 0);
  CHECK(f32(Op::relu, {{kPayload}}) == kPayload);
  CHECK(f32(Op::relu, {{kSignalling}}) == kSignalling);
  CHECK(f32(Op::relu, {{kMinusOne}}) == 0);
  CHECK(f32(Op::relu, {{kMinusInf}}) == 0);
  CHECK(f32(Op::relu, {{0x80000001}}) == 0);  // the negative subnormal is negative
  CHECK(f32(Op::relu, {{kTiny}}) == kTiny);
  CHECK(f32(Op::relu, {{kInf}}) == kInf);
  CHECK(is_open_nan(apply(Op::relu, DType::f32, {{kNan, true}})));
  for (const DType type : {DType::f16, DType::bf16}) {
    CAPTURE(name_of(type));
    int failures = 0;
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const bool negative = bits > 0x8000 && bits <= (0x8000 | format_of(type).infinity());
      failures += apply(Op::relu, type, {{bits}}).bits == (negative ? 0 : bits) ? 0 : 1;
    }
    CHECK(failures == 0);
  }
  CHECK(bits_of(Op::relu, DType::i8, {{0x80}}) == 0);
  CHECK(bits_of(Op::relu, DType::i8, {{0x7f}}) == 0x7f);
  CHECK(bits_of(Op::relu, DType::u8, {{0x80}}) == 0x80);  // unsigned: nothing is below 0
  CHECK(bits_of(Op::relu, DType::u64, {{~0ULL}}) == ~0ULL);
}

TEST_CASE("leaky_relu multiplies what is below zero and nothing else") {
  const Element half = {0x3f000000};
  CHECK(f32(Op::leaky_relu, {{kMinusOne}, half}) == 0xbf000000);
  CHECK(f32(Op::leaky_relu, {{kOne}, half}) == kOne);
  CHECK(f32(Op::leaky_relu, {{kMinusZero}, half}) == kMinusZero);
  CHECK(f32(Op::leaky_relu, {{kPayload}, half}) == kPayload);  // not below 0: not multiplied
  CHECK(f32(Op::leaky_relu, {{kOne}, {kNan}}) == kOne);
  CHECK(is_open_nan(apply(Op::leaky_relu, DType::f32, {{kMinusOne}, {kNan}})));
  CHECK(is_open_nan(apply(Op::leaky_relu, DType::f32, {{kMinusInf}, {0}})));
  CHECK(f32(Op::leaky_relu, {{0x80000001}, half}) == kMinusZero);    // half the least subnormal: a tie, to even
  CHECK(bits_of(Op::leaky_relu, DType::i8, {{0x80}, {3}}) == 0x80);  // -128 * 3 = -384 wraps to -128
  CHECK(bits_of(Op::leaky_relu, DType::i8, {{0x9c}, {3}}) == 0xd4);  // -300 wraps to -44
  CHECK(bits_of(Op::leaky_relu, DType::u8, {{0x80}, {3}}) == 0x80);
}

TEST_CASE("clamp: NaN passes, a NaN bound bounds nothing, lo comes first") {
  CHECK(f32(Op::clamp, {{kMinusOne}, {0}, {kOne}}) == 0);
  CHECK(f32(Op::clamp, {{kInf}, {0}, {kOne}}) == kOne);
  CHECK(f32(Op::clamp, {{kPayload}, {0}, {kOne}}) == kPayload);
  CHECK(f32(Op::clamp, {{kMinusZero}, {0}, {kOne}}) == kMinusZero);  // -0 < +0 is false
  CHECK(f32(Op::clamp, {{kInf}, {0}, {kNan}}) == kInf);
  CHECK(f32(Op::clamp, {{kMinusInf}, {kNan}, {kOne}}) == kMinusInf);
  CHECK(f32(Op::clamp, {{0}, {kOne}, {kMinusOne}}) == kOne);  // lo > hi, x < lo
  CHECK(f32(Op::clamp, {{kOne}, {kOne}, {kMinusOne}}) == kMinusOne);
  CHECK(is_open_nan(apply(Op::clamp, DType::f32, {{kNan, true}, {0}, {kOne}})));
  CHECK(bits_of(Op::clamp, DType::i8, {{0x80}, {0xff}, {1}}) == 0xff);
  CHECK(bits_of(Op::clamp, DType::u8, {{0x80}, {1}, {0xff}}) == 0x80);
}

TEST_CASE("neg and abs change the sign bit alone; integers wrap") {
  CHECK(f32(Op::neg, {{0}}) == kMinusZero);
  CHECK(f32(Op::neg, {{kPayload}}) == 0x7fc12345);
  CHECK(f32(Op::abs, {{kPayload}}) == 0x7fc12345);
  CHECK(f32(Op::neg, {{kSignalling}}) == 0xff800001);
  CHECK(f32(Op::abs, {{kMinusZero}}) == 0);
  CHECK(is_open_nan(apply(Op::neg, DType::f32, {{kNan, true}})));
  CHECK(is_open_nan(apply(Op::abs, DType::f32, {{kNan, true}})));
  CHECK(bits_of(Op::abs, DType::f16, {{0xfe01}}) == 0x7e01);
  CHECK(bits_of(Op::neg, DType::f64, {{0}}) == 0x8000000000000000);
  CHECK(bits_of(Op::neg, DType::i8, {{0x80}}) == 0x80);
  CHECK(bits_of(Op::abs, DType::i8, {{0x80}}) == 0x80);
  CHECK(bits_of(Op::abs, DType::i8, {{0xff}}) == 1);
  CHECK(bits_of(Op::abs, DType::i64, {{0x8000000000000000}}) == 0x8000000000000000);
  CHECK(bits_of(Op::neg, DType::u8, {{1}}) == 0xff);
  CHECK(bits_of(Op::abs, DType::u8, {{0x80}}) == 0x80);
}

TEST_CASE("sign: one of the sign of a number; zeros and NaNs keep their bits") {
  CHECK(f32(Op::sign, {{kInf}}) == kOne);
  CHECK(f32(Op::sign, {{kTiny}}) == kOne);
  CHECK(f32(Op::sign, {{kMinusInf}}) == kMinusOne);
  CHECK(f32(Op::sign, {{0x80000001}}) == kMinusOne);  // the subnormal next to zero
  CHECK(f32(Op::sign, {{0}}) == 0);
  CHECK(f32(Op::sign, {{kMinusZero}}) == kMinusZero);
  CHECK(f32(Op::sign, {{kPayload}}) == kPayload);
  CHECK(f32(Op::sign, {{kSignalling}}) == kSignalling);
  CHECK(is_open_nan(apply(Op::sign, DType::f32, {{kNan, true}})));
  CHECK(bits_of(Op::sign, DType::f16, {{0x8001}}) == 0xbc00);
  CHECK(bits_of(Op::sign, DType::bf16, {{0x7f80}}) == 0x3f80);
  CHECK(bits_of(Op::sign, DType::f64, {{1}}) == 0x3ff0000000000000);
  CHECK(bits_of(Op::sign, DType::i8, {{0x80}}) == 0xff);
  CHECK(bits_of(Op::sign, DType::i8, {{0x7f}}) == 1);
  CHECK(bits_of(Op::sign, DType::i64, {{0}}) == 0);
  CHECK(bits_of(Op::sign, DType::u8, {{0x80}}) == 1);
  CHECK(bits_of(Op::sign, DType::u64, {{0}}) == 0);
}

TEST_CASE("floor, ceil, round: whole numbers, half to even; zeros and what becomes zero keep their sign") {
  constexpr std::array kOps = {Op::floor, Op::ceil, Op::round};
  const auto expect = [&](DType type, std::uint64_t x, std::array<std::uint64_t, 3> results) {
    CAPTURE(x);
    for (std::size_t i = 0; i < kOps.size(); ++i) CHECK(bits_of(kOps.at(i), type, {{x}}) == results.at(i));
  };
  for (const std::uint64_t x : {kZero, kMinusZero, kInf, kMinusInf, kOne, std::uint64_t{0x4b000001}})
    expect(DType::f32, x, {x, x, x});
  expect(DType::f32, kTiny, {0, kOne, 0});
  expect(DType::f32, 0x80000001, {kMinusOne, kMinusZero, kMinusZero});
  expect(DType::f32, 0x3f000000, {0, kOne, 0});                          // 0.5
  expect(DType::f32, 0x3fc00000, {kOne, 0x40000000, 0x40000000});        // 1.5
  expect(DType::f32, 0x40200000, {0x40000000, 0x40400000, 0x40000000});  // 2.5
  expect(DType::f32, 0xbf400000, {kMinusOne, kMinusZero, kMinusOne});    // -0.75
  expect(DType::f32, 0x4affffff, {0x4afffffe, 0x4b000000, 0x4b000000});  // 2^23 - 0.5
  expect(DType::f16, 0x3e00, {0x3c00, 0x4000, 0x4000});
  expect(DType::bf16, 0xbf00, {0xbf80, 0x8000, 0x8000});
  expect(DType::f64, 0x432fffffffffffff, {0x432ffffffffffffe, 0x4330000000000000, 0x4330000000000000});
  for (const Op op : kOps) {
    CHECK(is_open_nan(apply(op, DType::f32, {{kPayload}})));
    CHECK(is_open_nan(apply(op, DType::bf16, {{0x7f81}}), DType::bf16));
  }
}

TEST_CASE("activations: limits at infinities, zeros of either sign, and NaNs") {
  for (const Op op : {Op::tanh, Op::erf, Op::gelu, Op::gelu_tanh, Op::silu}) {
    CHECK(f32(op, {{kZero}}) == kZero);
    CHECK(f32(op, {{kMinusZero}}) == kMinusZero);
  }
  CHECK(f32(Op::exp, {{kMinusInf}}) == 0);
  CHECK(f32(Op::exp, {{kInf}}) == kInf);
  CHECK(f32(Op::log, {{kMinusZero}}) == kMinusInf);
  CHECK(f32(Op::log, {{kInf}}) == kInf);
  CHECK(f32(Op::rsqrt, {{kMinusZero}}) == kMinusInf);
  CHECK(f32(Op::rsqrt, {{kInf}}) == 0);
  CHECK(f32(Op::softplus, {{kMinusInf}}) == 0);
  CHECK(f32(Op::sigmoid, {{kMinusInf}}) == 0);
  for (const Op op : {Op::gelu, Op::gelu_tanh, Op::silu}) {
    CHECK(f32(op, {{kMinusInf}}) == kMinusZero);
    CHECK(f32(op, {{kInf}}) == kInf);
  }
  CHECK(is_open_nan(apply(Op::log, DType::f32, {{kMinusOne}})));
  CHECK(is_open_nan(apply(Op::rsqrt, DType::f32, {{0x80000001}})));
  for (const OpInfo& info : kOperations)
    if (info.op_class == OpClass::activation) CHECK(is_open_nan(apply(info.op, DType::f32, {{kPayload}})));
}

TEST_CASE("activations: what looks like a tie in f64, and in more places, is none") {
  CHECK(f32(Op::log, {{0x65d890d3}}) == 0x4254d1f9);      // 0.03 units of f64 from a tie
  CHECK(f32(Op::sigmoid, {{0x34c00000}}) == 0x3f000001);  // 1/2 + x/4, a tie, less x^3/48
  CHECK(f32(Op::silu, {{1}}) == 1);                       // x/2, a tie, and x^2/4
  CHECK(f32(Op::gelu, {{0x80000001}}) == kMinusZero);
  CHECK(f32(Op::gelu_tanh, {{3}}) == 2);
  CHECK(f32(Op::gelu_tanh, {{0x80000003}}) == 0x80000001);
  // f16 and bf16 take the value of f32 and round that.
  CHECK(bits_of(Op::exp, DType::f16, {{0x3c00}}) == 0x4170);
  CHECK(bits_of(Op::exp, DType::bf16, {{0x3f80}}) == 0x402e);
}

TEST_CASE("arithmetic wraps in integers and is IEEE in floats") {
  CHECK(bits_of(Op::add, DType::i8, {{0x7f}, {1}}) == 0x80);
  CHECK(bits_of(Op::sub, DType::u16, {{0}, {1}}) == 0xffff);
  CHECK(bits_of(Op::mul, DType::i32, {{0x80000000}, {0xffffffff}}) == 0x80000000);
  CHECK(bits_of(Op::mul, DType::i64, {{0x8000000000000000}, {~0ULL}}) == 0x8000000000000000);
  CHECK(bits_of(Op::mul, DType::u16, {{0xffff}, {0xffff}}) == 1);
  CHECK(f32(Op::add, {{kMinusZero}, {0}}) == 0);
  CHECK(f32(Op::add, {{kMinusZero}, {kMinusZero}}) == kMinusZero);
  CHECK(f32(Op::sub, {{kTiny}, {kTiny}}) == 0);
  CHECK(f32(Op::add, {{kTiny}, {kTiny}}) == 2);  // subnormals are not flushed
  CHECK(f32(Op::div, {{kOne}, {kMinusZero}}) == kMinusInf);
  CHECK(f32(Op::mul, {{0x7f7fffff}, {0x7f7fffff}}) == kInf);
  CHECK(f32(Op::sqrt, {{kMinusZero}}) == kMinusZero);
  CHECK(f32(Op::sqrt, {{0x40000000}}) == 0x3fb504f3);
  for (const Element& result :
       {apply(Op::sub, DType::f32, {{kInf}, {kInf}}), apply(Op::mul, DType::f32, {{kInf}, {0}}),
        apply(Op::div, DType::f32, {{0}, {0}}), apply(Op::sqrt, DType::f32, {{kMinusOne}}),
        apply(Op::add, DType::f32, {{kPayload}, {kOne}}), apply(Op::sqrt, DType::f32, {{kPayload}})})
    CHECK(is_open_nan(result));
  CHECK(is_open_nan(apply(Op::div, DType::f64, {{0}, {0}}), DType::f64));
  CHECK(is_open_nan(apply(Op::div, DType::bf16, {{0}, {0}}), DType::bf16));
}

// Products and sums of two 16-bit floats are exact in f64, quotients and roots far enough from ties: rounding that once
// is the correctly rounded result, which f32 and one rounding must give as well.
TEST_CASE("f16 and bf16 arithmetic is correctly rounded") {
  const std::uint64_t seed = padlock::testing::seed_or(7);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (const DType type : {DType::f16, DType::bf16}) {
    CAPTURE(name_of(type));
    int failures = 0;
    const auto check = [&](Op op, std::vector<Element> operands, double exact) {
      const Element actual = apply(op, type, std::move(operands));
      const bool same = std::isnan(exact) ? is_open_nan(actual, type)
                                          : actual.bits == bits_from_double(type, exact) && !actual.nan_open;
      failures += same ? 0 : 1;
    };
    for (int i = 0; i < 100000; ++i) {
      const std::uint64_t a = random() & 0xffff;
      // Every second pair has close exponents, so that sums round and cancel.
      const std::uint64_t b = (i & 1) != 0 ? random() & 0xffff : a ^ (random() & 0x87ff);
      const double x = double_from_bits(type, a);
      const double y = double_from_bits(type, b);
      check(Op::mul, {{a}, {b}}, x * y);
      check(Op::div, {{a}, {b}}, x / y);
      if (f64_holds_sum(x, y)) {
        check(Op::add, {{a}, {b}}, x + y);
        check(Op::sub, {{a}, {b}}, x - y);
      }
    }
    for (std::uint64_t a = 0; a < 65536; ++a) check(Op::sqrt, {{a}}, std::sqrt(double_from_bits(type, a)));
    CHECK(failures == 0);
  }
}

TEST_CASE("maximum and minimum are IEEE 754-2019's") {
  for (const auto& [a, b] : {std::pair{kZero, kMinusZero}, std::pair{kMinusZero, kZero}}) {
    CHECK(f32(Op::maximum, {{a}, {b}}) == 0);
    CHECK(f32(Op::minimum, {{a}, {b}}) == kMinusZero);
  }
  CHECK(f32(Op::maximum, {{kMinusInf}, {kMinusOne}}) == kMinusOne);
  CHECK(f32(Op::minimum, {{kMinusInf}, {kMinusOne}}) == kMinusInf);
  CHECK(f32(Op::maximum, {{kTiny}, {0}}) == kTiny);
  for (const Op op : {Op::maximum, Op::minimum}) {
    CHECK(is_open_nan(apply(op, DType::f32, {{kPayload}, {kOne}})));  // triton_1566: on either side
    CHECK(is_open_nan(apply(op, DType::f32, {{kOne}, {kPayload}})));
    CHECK(is_open_nan(apply(op, DType::bf16, {{0x7f81}, {0x7f80}}), DType::bf16));
    CHECK(f32(op, {{kOne}, {kOne}}) == kOne);
  }
  CHECK(bits_of(Op::maximum, DType::i8, {{0x80}, {1}}) == 1);
  CHECK(bits_of(Op::maximum, DType::u8, {{0x80}, {1}}) == 0x80);
  CHECK(bits_of(Op::minimum, DType::u64, {{~0ULL}, {1}}) == 1);
  CHECK(bits_of(Op::minimum, DType::i64, {{~0ULL}, {1}}) == ~0ULL);
  CHECK(bits_of(Op::maximum, DType::f16, {{0x8000}, {0}}) == 0);
}

TEST_CASE("comparisons: NaN is unordered, zeros are equal, bools are normalised") {
  struct Case {
    DType type;
    std::uint64_t a, b;
    bool lt, le, gt, ge, eq, ne;
  };
  for (const Case& c : {Case{DType::f32, kMinusZero, 0, false, true, false, true, true, false},
                        Case{DType::f32, kNan, kNan, false, false, false, false, false, true},
                        Case{DType::f32, kNan, kOne, false, false, false, false, false, true},
                        Case{DType::f32, kMinusInf, kTiny, true, true, false, false, false, true},
                        Case{DType::f32, 0x80000001, 0, true, true, false, false, false, true},
                        Case{DType::f16, 0x7e00, 0x7e00, false, false, false, false, false, true},
                        Case{DType::i8, 0x80, 0x7f, true, true, false, false, false, true},
                        Case{DType::u8, 0x80, 0x7f, false, false, true, true, false, true},
                        Case{DType::i64, ~0ULL, 0, true, true, false, false, false, true},
                        Case{DType::u64, ~0ULL, 0, false, false, true, true, false, true},
                        Case{DType::boolean, 0, 1, true, true, false, false, false, true},
                        Case{DType::boolean, 0xff, 1, false, true, false, true, true, false}}) {
    CAPTURE(name_of(c.type));
    CAPTURE(c.a);
    CAPTURE(c.b);
    CHECK(bits_of(Op::lt, c.type, {{c.a}, {c.b}}) == (c.lt ? 1 : 0));
    CHECK(bits_of(Op::le, c.type, {{c.a}, {c.b}}) == (c.le ? 1 : 0));
    CHECK(bits_of(Op::gt, c.type, {{c.a}, {c.b}}) == (c.gt ? 1 : 0));
    CHECK(bits_of(Op::ge, c.type, {{c.a}, {c.b}}) == (c.ge ? 1 : 0));
    CHECK(bits_of(Op::eq, c.type, {{c.a}, {c.b}}) == (c.eq ? 1 : 0));
    CHECK(bits_of(Op::ne, c.type, {{c.a}, {c.b}}) == (c.ne ? 1 : 0));
  }
}

TEST_CASE("bool operations read any byte but 0 as true and write 0 or 1; select keeps bits") {
  const DType type = DType::boolean;
  CHECK(bits_of(Op::logical_and, type, {{0x40}, {0x02}}) == 1);
  CHECK(bits_of(Op::logical_and, type, {{0x40}, {0}}) == 0);
  CHECK(bits_of(Op::logical_or, type, {{0}, {0x80}}) == 1);
  CHECK(bits_of(Op::logical_or, type, {{0}, {0}}) == 0);
  CHECK(bits_of(Op::logical_not, type, {{0x40}}) == 0);
  CHECK(bits_of(Op::logical_not, type, {{0}}) == 1);
  CHECK(bits_of(Op::select, type, {{0x40}, {0x22}, {0}}) == 0x22);
  CHECK(f32(Op::select, {{1}, {kSignalling}, {kOne}}) == kSignalling);
  CHECK(f32(Op::select, {{0}, {kSignalling}, {kMinusZero}}) == kMinusZero);
  CHECK(is_open_nan(apply(Op::select, DType::f32, {{1}, {kNan, true}, {kOne}})));
  CHECK(f32(Op::select, {{0}, {kNan, true}, {kOne}}) == kOne);
}

TEST_CASE("cast opens a NaN between float types alone") {
  const auto cast = [](DType from, DType to, Element x) { return apply_elementwise(Op::cast, from, to, {&x, 1}); };
  CHECK(is_open_nan(cast(DType::f32, DType::f16, {kPayload}), DType::f16));
  CHECK(is_open_nan(cast(DType::bf16, DType::f32, {0x7fc0})));
  CHECK(cast(DType::f32, DType::f32, {kSignalling}).bits == kSignalling);
  CHECK_FALSE(cast(DType::f32, DType::f32, {kSignalling}).nan_open);
  CHECK(is_open_nan(cast(DType::f32, DType::f32, {kNan, true})));
  CHECK_FALSE(cast(DType::f32, DType::i32, {kNan, true}).nan_open);
  CHECK(cast(DType::f32, DType::i32, {kNan, true}).bits == 0);
  CHECK(cast(DType::f32, DType::boolean, {kNan, true}).bits == 1);
  CHECK_FALSE(cast(DType::f32, DType::boolean, {kNan, true}).nan_open);
  CHECK(cast(DType::f64, DType::f32, {0x7fefffffffffffff}).bits == kInf);
  CHECK_FALSE(cast(DType::f64, DType::f32, {0x7fefffffffffffff}).nan_open);
}
