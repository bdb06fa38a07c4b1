#include "ir/text/literal.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>

#include <doctest/doctest.h>

#include "ir/text/decimal.h"
#include "tests/common/environment.h"
#include "tests/common/expect.h"

namespace padlock::ir {
namespace {

std::uint64_t bits(std::string_view text, DType dtype) {
  const auto scalar = parse_literal(text, dtype);
  INFO(text);
  REQUIRE_MESSAGE(scalar.has_value(), (scalar ? std::string() : scalar.error().message));
  CHECK(scalar->dtype == dtype);
  return scalar->bits;
}

std::string refusal(std::string_view text, DType dtype) {
  return padlock::testing::refusal_of(parse_literal(text, dtype));
}

std::uint64_t seed() {
  const std::uint64_t value = padlock::testing::seed_or(20240611);
  MESSAGE("PADLOCK_SEED=", value);
  return value;
}

/// A magnitude of a 16-bit float as a double, from the definition.
double value_of(std::uint64_t magnitude, int fraction_bits, int bias) {
  const auto exponent = static_cast<int>(magnitude >> fraction_bits);
  const double fraction = std::ldexp(static_cast<double>(magnitude & ((1U << fraction_bits) - 1)), -fraction_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
}

std::string exact_text(double value) {
  std::array<char, 2048> buffer;
  return {buffer.data(),
          std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, 150).ptr};
}

TEST_CASE("every 16-bit float prints as text that reads back") {
  for (const DType dtype : {DType::f16, DType::bf16})
    for (std::uint64_t b = 0; b < 65536; ++b) {
      const Scalar value{dtype, b};
      const auto back = parse_literal(to_string(value), dtype);
      if (!back || *back != value) FAIL(name_of(dtype), " ", b, " prints as ", to_string(value));
    }
}

TEST_CASE("between two 16-bit floats the nearer is taken, and of a tie the even one") {
  struct Format {
    DType dtype;
    int fraction_bits, bias;
    std::uint64_t infinity;
  };
  for (const Format& f : {Format{DType::f16, 10, 15, 0x7c00}, Format{DType::bf16, 7, 127, 0x7f80}}) {
    for (std::uint64_t b = 0; b + 1 < f.infinity; ++b) {
      const double low = value_of(b, f.fraction_bits, f.bias), high = value_of(b + 1, f.fraction_bits, f.bias);
      const double middle = low + (high - low) / 2;  // a double holds it exactly
      const std::string tie = exact_text(middle);
      // Exact expansions have at most 134 fractional digits, so the last of 150 is a 0 that can become more.
      REQUIRE(tie.back() == '0');
      const std::string above = tie + "1";
      std::string below = exact_text(std::nextafter(middle, 0.0));
      if (bits(tie, f.dtype) != b + (b & 1) || bits(above, f.dtype) != b + 1 || bits(below, f.dtype) != b)
        FAIL(name_of(f.dtype), " between ", b, " and its successor");
    }
  }
}

TEST_CASE("a decimal a hair below a tie rounds down, however long it is") {
  // 1 + 2^-11 is half way between 1 and the next f16; 1 + 2^-8 for bf16.
  const std::string nines(400, '9');
  CHECK(bits("1.00048828125", DType::f16) == 0x3c00);
  CHECK(bits("1.00048828124" + nines, DType::f16) == 0x3c00);
  CHECK(bits("1.00048828125" + std::string(400, '0') + "1", DType::f16) == 0x3c01);
  CHECK(bits("1.00390625", DType::bf16) == 0x3f80);
  CHECK(bits("1.00390625" + std::string(400, '0') + "1", DType::bf16) == 0x3f81);
  CHECK(bits("1.01171874" + nines, DType::bf16) == 0x3f81);
  CHECK(bits("1.01171875", DType::bf16) == 0x3f82);
  // Through f32 this would round twice: the f32 nearest to it is the tie of bf16.
  CHECK(bits("1.003906250000000001", DType::bf16) == 0x3f81);
  CHECK(bits("1.0000000596046447754", DType::f32) == 0x3f800001);
  CHECK(bits("1.000000059604644775390625", DType::f32) == 0x3f800000);
}

TEST_CASE("integers go into float types exactly or rounded once") {
  CHECK(bits("9007199254740993", DType::f32) == std::bit_cast<std::uint32_t>(9007199254740992.0F));
  CHECK(bits("9007199254740993", DType::f64) == std::bit_cast<std::uint64_t>(9007199254740992.0));
  CHECK(bits("2049", DType::f16) == bits("2048", DType::f16));
  CHECK(bits("2051", DType::f16) == bits("2052", DType::f16));
  CHECK(bits("16777217", DType::f32) == std::bit_cast<std::uint32_t>(16777216.0F));
  CHECK(bits("0", DType::f32) == 0);
  CHECK(bits("-0", DType::f32) == 0x80000000);
  CHECK(bits("-0", DType::f16) == 0x8000);
  CHECK(bits("-0.0", DType::f64) == std::uint64_t{1} << 63);
  CHECK(bits("-0", DType::i32) == 0);
}

TEST_CASE("the ends of the float types") {
  CHECK(bits("65504", DType::f16) == 0x7bff);
  CHECK(bits("65519.99999999999999999999", DType::f16) == 0x7bff);
  CHECK(refusal("65520", DType::f16) ==
        "expected a literal that is finite in f16, found '65520', which rounds to infinity");
  CHECK(refusal("-1e39", DType::bf16) ==
        "expected a literal that is finite in bf16, found '-1e39', which rounds to infinity");
  CHECK(refusal("3.5e38", DType::f32) ==
        "expected a literal that is finite in f32, found '3.5e38', which rounds to infinity");
  CHECK(refusal("1e309", DType::f64).starts_with("expected a literal that is finite in f64"));
  CHECK(refusal("1e99999999999999999999", DType::f64).starts_with("expected a literal that is finite in f64"));
  CHECK(bits("3.4028235e38", DType::f32) == 0x7f7fffff);
  CHECK(bits("1e-45", DType::f32) == 1);
  CHECK(bits("0.7e-45", DType::f32) == 0);
  CHECK(bits("-1e-99999999999999999999", DType::f64) == std::uint64_t{1} << 63);
  CHECK(bits("5e-324", DType::f64) == 1);
  CHECK(bits("0e99999999999999", DType::f32) == 0);
  CHECK(bits("5.9604644775390625e-8", DType::f16) == 1);   // the least subnormal
  CHECK(bits("2.98023223876953125e-8", DType::f16) == 0);  // a tie with zero
  CHECK(bits("2.980232238769531250001e-8", DType::f16) == 1);
  CHECK(bits("9.2e-41", DType::bf16) == 1);
}

TEST_CASE("nan, inf and bits") {
  CHECK(bits("nan", DType::f64) == 0x7ff8000000000000);
  CHECK(bits("nan", DType::f32) == 0x7fc00000);
  CHECK(bits("nan", DType::f16) == 0x7e00);
  CHECK(bits("nan", DType::bf16) == 0x7fc0);
  CHECK(bits("inf", DType::f16) == 0x7c00);
  CHECK(bits("-inf", DType::bf16) == 0xff80);
  CHECK(bits("bits(0x7fc00001)", DType::f32) == 0x7fc00001);
  CHECK(bits("bits(0xFF)", DType::i8) == 0xff);
  CHECK(bits("bits(0x02)", DType::boolean) == 2);
  CHECK(bits("bits(0x00000000000000000000ffffffffffffffff)", DType::f64) == ~std::uint64_t{0});
  CHECK(refusal("bits(0x10000)", DType::f16) == "expected bits below 2^16 for the type f16, found 'bits(0x10000)'");
  CHECK(refusal("bits(0x10000000000000000)", DType::u64) ==
        "expected bits below 2^64 for the type u64, found 'bits(0x10000000000000000)'");
  CHECK(refusal("bits(0x)", DType::u64) == "expected bits(0x...), found 'bits(0x)'");
  CHECK(refusal("nan", DType::i32) ==
        "expected a literal of type i32: an integer in its range or bits(...), found 'nan'");
}

TEST_CASE("integer and bool types") {
  CHECK(bits("-128", DType::i8) == 0x80);
  CHECK(bits("18446744073709551615", DType::u64) == ~std::uint64_t{0});
  CHECK(bits("-9223372036854775808", DType::i64) == std::uint64_t{1} << 63);
  CHECK(bits("007", DType::u8) == 7);
  CHECK(refusal("128", DType::i8) == "expected an integer of type i8 in [-128, 127], found '128'");
  CHECK(refusal("-1", DType::u16) == "expected an integer of type u16 in [0, 65535], found '-1'");
  CHECK(refusal(std::string(3000, '9'), DType::i64)
            .starts_with("expected an integer of type i64 in [-9223372036854775808"));
  CHECK(refusal("1.0", DType::i32) ==
        "expected a literal of type i32: an integer in its range or bits(...), found '1.0'");
  CHECK(refusal("true", DType::u8) ==
        "expected a literal of type u8: an integer in its range or bits(...), found 'true'");
  CHECK(refusal("true", DType::f32) == "expected a literal of type f32: a number, inf, nan or bits(...), found 'true'");
  CHECK(bits("true", DType::boolean) == 1);
  CHECK(bits("0", DType::boolean) == 0);
  CHECK(bits("1", DType::boolean) == 1);
  for (const char* text : {"2", "-1", "1.0", "inf"})
    CHECK(refusal(text, DType::boolean) ==
          std::string("expected a literal of type bool: true, false, 0 or 1, found '") + text + "'");
}

TEST_CASE("no other text is a literal") {
  for (const DType dtype : kAllDTypes)
    for (const char* text : {"", "-", "+1", "1.", ".5", "1e", "1e+", "0x10", "--1", " 1", "1 ", "-nan", "bits(12)",
                             "bits(0x1", "bits(0xg)", "infinity", "1_000", "1,5"})
      CHECK_MESSAGE(!parse_literal(text, dtype).has_value(), text);
}

TEST_CASE("printing is short and reads back") {
  CHECK(to_string(Scalar{DType::f16, bits("0.1", DType::f16)}) == "0.1");
  CHECK(to_string(Scalar{DType::bf16, bits("-1.5", DType::bf16)}) == "-1.5");
  CHECK(to_string(Scalar{DType::f32, 0x80000000}) == "-0");
  CHECK(to_string(Scalar{DType::f32, 0x7fc00000}) == "nan");
  CHECK(to_string(Scalar{DType::f32, 0xffc00000}) == "bits(0xffc00000)");
  CHECK(to_string(Scalar{DType::f64, 0x7ff0000000000000}) == "inf");
  CHECK(to_string(Scalar{DType::boolean, 1}) == "true");
  CHECK(to_string(Scalar{DType::boolean, 7}) == "bits(0x7)");
  CHECK(to_string(Scalar{DType::i8, 0x80}) == "-128");
  CHECK(to_string(Scalar{DType::u64, ~std::uint64_t{0}}) == "18446744073709551615");
}

TEST_CASE("random bits of every type print as text that reads back") {
  std::mt19937_64 random(seed());
  for (const DType dtype : kAllDTypes)
    for (int i = 0; i < 5000; ++i) {
      const Scalar value{dtype, random() >> (64 - bit_width(dtype))};
      const auto back = parse_literal(to_string(value), dtype);
      if (!back || *back != value) FAIL(name_of(dtype), " ", value.bits, " prints as ", to_string(value));
    }
}

TEST_CASE("exact decimals compare by value") {
  CHECK(compare(*parse_decimal("0.1"), exact_decimal(0.1)) == -1);  // the double is above it
  CHECK(compare(*parse_decimal("0.5"), exact_decimal(0.5)) == 0);
  CHECK(compare(*parse_decimal("500e-3"), *parse_decimal("0.0005E+3")) == 0);
  CHECK(compare(*parse_decimal("0"), *parse_decimal("0.000")) == 0);
  CHECK(compare(*parse_decimal("10"), *parse_decimal("9.99")) == 1);
  CHECK(compare(exact_decimal(0x1p-1074), *parse_decimal("4.94e-324")) == 1);
}

}  // namespace
}  // namespace padlock::ir
