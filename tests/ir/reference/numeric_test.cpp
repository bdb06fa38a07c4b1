#include "ir/reference/numeric.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include "support/int128.h"
#include "tests/common/environment.h"

using namespace padlock;
using namespace padlock::ir;

namespace {

std::uint64_t seed() { return padlock::testing::seed_or(20250); }

/// The value of a finite 16-bit pattern from the definition of its format: an oracle that shares no code with unpack.
double value_of(FloatFormat format, std::uint64_t bits) {
  const auto fraction = static_cast<double>(bits & format.fraction_mask());
  const auto field = static_cast<int>((bits & format.infinity()) >> format.fraction_bits);
  const double unit = std::ldexp(1.0, -format.fraction_bits);
  const double magnitude = field == 0 ? std::ldexp(fraction * unit, 1 - format.bias())
                                      : std::ldexp(1 + fraction * unit, field - format.bias());
  return (bits & format.sign_mask()) != 0 ? -magnitude : magnitude;
}

std::uint64_t from_i64(DType to, std::int64_t value) {
  return convert(DType::i64, to, static_cast<std::uint64_t>(value));
}

std::int64_t to_signed(DType type, std::uint64_t bits) { return static_cast<std::int64_t>(extend_from(type, bits)); }

}  // namespace

TEST_CASE("every f16 and bf16 widens exactly and comes back") {
  for (const DType type : {DType::f16, DType::bf16}) {
    CAPTURE(name_of(type));
    const FloatFormat format = format_of(type);
    int failures = 0;
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const bool nan = (bits & 0x7fff) > format.infinity();
      failures += is_nan(type, bits) != nan ? 1 : 0;
      const double wide = double_from_bits(type, bits);
      if (nan) {
        failures += std::isnan(wide) && std::isnan(float_from_bits(type, bits)) ? 0 : 1;
        // Quieted, nothing else lost.
        const std::uint64_t quiet = bits | (std::uint64_t{1} << (format.fraction_bits - 1));
        failures += bits_from_float(type, float_from_bits(type, bits)) == quiet ? 0 : 1;
        continue;
      }
      const bool infinite = (bits & 0x7fff) == format.infinity();
      const double expected = infinite ? ((bits & 0x8000) != 0 ? -INFINITY : INFINITY) : value_of(format, bits);
      failures += wide == expected && std::signbit(wide) == std::signbit(expected) ? 0 : 1;
      failures += static_cast<double>(float_from_bits(type, bits)) == expected ? 0 : 1;
      failures += bits_from_double(type, wide) == bits ? 0 : 1;
      failures += bits_from_float(type, static_cast<float>(wide)) == bits ? 0 : 1;
    }
    CHECK(failures == 0);
  }
}

#if defined(__aarch64__)
using Half = __fp16;  // g++ 12 has _Float16 on x86-64 alone
#define PADLOCK_HAS_HALF
#elif defined(__FLT16_MAX__)
using Half = _Float16;
#define PADLOCK_HAS_HALF
#endif

#ifdef PADLOCK_HAS_HALF
TEST_CASE("f16 is the compiler's type of 16 bits") {
  int failures = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    if (is_nan(DType::f16, bits)) continue;
    const float theirs = static_cast<float>(std::bit_cast<Half>(static_cast<std::uint16_t>(bits)));
    failures += std::bit_cast<std::uint32_t>(theirs) == convert(DType::f16, DType::f32, bits) ? 0 : 1;
  }
  std::mt19937_64 random(seed());
  for (int i = 0; i < 200000; ++i) {
    // Any sign and fraction, exponents from below the subnormals to beyond the largest.
    const auto sign_and_fraction = static_cast<std::uint32_t>(random()) & 0x807fffff;
    const auto value =
        std::bit_cast<float>(sign_and_fraction | ((100 + static_cast<std::uint32_t>(random() % 46)) << 23));
    const auto theirs = std::bit_cast<std::uint16_t>(static_cast<Half>(value));
    failures += bits_from_float(DType::f16, value) == theirs ? 0 : 1;
  }
  CAPTURE(seed());
  CHECK(failures == 0);
}
#endif

// There is one tie between two neighbours. The next f32 and the next f64 on either side of it must round to nearest;
// rounding to f32 first would lose the f64 ones.
TEST_CASE("every tie of f16 and bf16 goes to even, its neighbours to nearest") {
  for (const DType type : {DType::f16, DType::bf16}) {
    CAPTURE(name_of(type));
    const FloatFormat format = format_of(type);
    int failures = 0;
    for (std::uint64_t low = 0; low < format.infinity(); ++low) {
      const std::uint64_t high = low + 1;  // infinity after the largest, as if it were the next power of two
      const double a = value_of(format, low);
      const double b = high == format.infinity() ? std::ldexp(1.0, format.bias() + 1) : value_of(format, high);
      const double tie = (a + b) / 2;
      const auto narrow_tie = static_cast<float>(tie);
      const std::uint64_t even = (low & 1) == 0 ? low : high;
      for (const std::uint64_t sign : {std::uint64_t{0}, format.sign_mask()}) {
        const double s = sign == 0 ? 1 : -1;
        const auto check = [&](double value, std::uint64_t expected) {
          failures += bits_from_double(type, s * value) == (sign | expected) ? 0 : 1;
        };
        const auto check_narrow = [&](float value, std::uint64_t expected) {
          failures += bits_from_float(type, static_cast<float>(s) * value) == (sign | expected) ? 0 : 1;
        };
        check(tie, even);
        check(std::nextafter(tie, 0.0), low);
        check(std::nextafter(tie, INFINITY), high);
        REQUIRE(static_cast<double>(narrow_tie) == tie);
        check_narrow(narrow_tie, even);
        check_narrow(std::nextafter(narrow_tie, 0.0F), low);
        check_narrow(std::nextafter(narrow_tie, INFINITY), high);
      }
    }
    CHECK(failures == 0);
  }
}

TEST_CASE("f64 to f32 and integers to f32 and f64 are the host's") {
  std::mt19937_64 random(seed());
  CAPTURE(seed());
  int failures = 0;
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t bits = random();
    // Exponents around all of f32's, subnormals included.
    const std::uint64_t field = 1023 - 160 + random() % 300;
    const double value = std::bit_cast<double>((bits & 0x800fffffffffffff) | field << 52);
    failures += bits_from_double(DType::f32, value) == std::bit_cast<std::uint32_t>(static_cast<float>(value)) ? 0 : 1;

    const std::uint64_t integer = bits >> (random() % 64);
    const auto signed_integer = static_cast<std::int64_t>(bits) >> (random() % 64);
    failures +=
        convert(DType::u64, DType::f32, integer) == std::bit_cast<std::uint32_t>(static_cast<float>(integer)) ? 0 : 1;
    failures +=
        convert(DType::u64, DType::f64, integer) == std::bit_cast<std::uint64_t>(static_cast<double>(integer)) ? 0 : 1;
    failures += from_i64(DType::f32, signed_integer) == std::bit_cast<std::uint32_t>(static_cast<float>(signed_integer))
                    ? 0
                    : 1;
    failures +=
        from_i64(DType::f64, signed_integer) == std::bit_cast<std::uint64_t>(static_cast<double>(signed_integer)) ? 0
                                                                                                                  : 1;
  }
  CHECK(failures == 0);
}

TEST_CASE("integers round to f16 and bf16 once") {
  // Exact midpoints of neighbours as integers; one more and one less must leave the tie, however wide the integer.
  for (const DType type : {DType::f16, DType::bf16}) {
    CAPTURE(name_of(type));
    const FloatFormat format = format_of(type);
    int ties = 0;
    int failures = 0;
    for (std::uint64_t low = 0; low < format.infinity(); ++low) {
      const double a = value_of(format, low);
      const double b = low + 1 == format.infinity() ? std::ldexp(1.0, format.bias() + 1) : value_of(format, low + 1);
      const double tie = (a + b) / 2;
      if (tie != std::floor(tie) || tie >= std::ldexp(1.0, 62)) continue;
      ++ties;
      const auto exact = static_cast<std::int64_t>(tie);
      failures += from_i64(type, exact) == (low + (low & 1)) ? 0 : 1;
      failures += from_i64(type, exact - 1) == low ? 0 : 1;
      failures += from_i64(type, exact + 1) == low + 1 ? 0 : 1;
      failures += from_i64(type, -exact - 1) == ((low + 1) | format.sign_mask()) ? 0 : 1;
      failures += convert(DType::u64, type, static_cast<std::uint64_t>(exact) + 1) == low + 1 ? 0 : 1;
    }
    CHECK(ties > 1000);
    CHECK(failures == 0);
  }
}

TEST_CASE("double rounding traps") {
  CHECK(from_i64(DType::f64, (1LL << 53) + 1) == std::bit_cast<std::uint64_t>(0x1p53));
  CHECK(from_i64(DType::f64, (1LL << 53) + 3) == std::bit_cast<std::uint64_t>(0x1p53 + 4));
  CHECK(from_i64(DType::f32, (1LL << 24) + 1) == std::bit_cast<std::uint32_t>(0x1p24F));
  CHECK(from_i64(DType::f32, (1LL << 54) + (1LL << 30) + 1) == std::bit_cast<std::uint32_t>(0x1p54F + 0x1p31F));
  // Through f32, 2^32 + 2^24 + 1 loses its 1 and ties to 2^32.
  CHECK(double_from_bits(DType::bf16, from_i64(DType::bf16, (1LL << 32) + (1LL << 24) + 1)) == 0x1p32 + 0x1p25);
  CHECK(double_from_bits(DType::bf16, from_i64(DType::bf16, (1LL << 32) + (1LL << 24))) == 0x1p32);
  CHECK(bits_from_double(DType::f16, 1 + 0x1p-11 + 0x1p-40) == 0x3c01);
  CHECK(bits_from_double(DType::f16, 1 + 0x1p-11) == 0x3c00);
  CHECK(bits_from_double(DType::f16, 0x1p-25) == 0);
  CHECK(bits_from_double(DType::f16, 0x1p-25 + 0x1p-70) == 1);
  CHECK(bits_from_double(DType::bf16, 0x1p-134) == 0);
  CHECK(bits_from_double(DType::bf16, -0x1p-134 - 0x1p-180) == 0x8001);
  CHECK(bits_from_double(DType::f16, 65519.999) == 0x7bff);
  CHECK(bits_from_double(DType::f16, 65520) == 0x7c00);
  CHECK(from_i64(DType::f16, 65519) == 0x7bff);
  CHECK(from_i64(DType::f16, -65520) == 0xfc00);
  CHECK(convert(DType::u64, DType::f16, ~std::uint64_t{0}) == 0x7c00);
  CHECK(convert(DType::u64, DType::bf16, ~std::uint64_t{0}) == 0x5f80);  // 2^64
  CHECK(bits_from_double(DType::f32, 1e300) == 0x7f800000);
  CHECK(bits_from_double(DType::f32, -1e-300) == 0x80000000);
  CHECK(bits_from_double(DType::f32, std::numeric_limits<double>::denorm_min()) == 0);
}

TEST_CASE("round_to_float takes any significand and exponent") {
  const std::uint64_t all = ~std::uint64_t{0};
  CHECK(round_to_float(DType::f64, false, all, 0) == std::bit_cast<std::uint64_t>(0x1p64));
  CHECK(round_to_float(DType::f64, true, 0, 7) == std::bit_cast<std::uint64_t>(-0.0));
  CHECK(round_to_float(DType::f64, false, 1, -1074) == 1);
  CHECK(round_to_float(DType::f64, false, 1, -1075) == 0);
  CHECK(round_to_float(DType::f64, false, 3, -1076) == 1);
  CHECK(round_to_float(DType::f64, false, 1, 1024) == format_of(DType::f64).infinity());
  CHECK(round_to_float(DType::f64, false, all, -1074 - 64) == 1);         // just below 2^-1074
  CHECK(round_to_float(DType::f64, false, 1ULL << 63, -1074 - 64) == 0);  // the tie with 0
  CHECK(round_to_float(DType::f64, false, all, -1074 - 65) == 0);
  CHECK(round_to_float(DType::f32, false, all, -1000000) == 0);
  CHECK(round_to_float(DType::f16, true, all, 1000000) == 0xfc00);
}

TEST_CASE("float to integer truncates and saturates, NaN gives 0") {
  const auto cast = [](double value, DType to) {
    return to_signed(to, convert(DType::f64, to, std::bit_cast<std::uint64_t>(value)));
  };
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  CHECK(cast(-0.9, DType::i32) == 0);
  CHECK(cast(1.9, DType::i32) == 1);
  CHECK(cast(-1.9, DType::i32) == -1);
  CHECK(cast(127.99, DType::i8) == 127);
  CHECK(cast(128, DType::i8) == 127);
  CHECK(cast(-128.9, DType::i8) == -128);
  CHECK(cast(-129, DType::i8) == -128);
  CHECK(cast(-0.9, DType::u8) == 0);
  CHECK(cast(-1, DType::u8) == 0);
  CHECK(cast(255.9, DType::u8) == 255);
  CHECK(cast(256, DType::u8) == 255);
  CHECK(cast(0x1p31, DType::i32) == 2147483647);
  CHECK(cast(-0x1p31 - 0.5, DType::i32) == -2147483648LL);
  CHECK(cast(0x1p63, DType::i64) == kMax);
  CHECK(cast(-0x1p63, DType::i64) == kMin);
  CHECK(cast(-0x1p70, DType::i64) == kMin);
  CHECK(cast(0x1p63 - 1024, DType::i64) == kMax - 1023);
  CHECK(cast(0x1p63, DType::u64) == kMin);  // 2^63 as bits
  CHECK(cast(0x1p64, DType::u64) == -1);
  CHECK(cast(0x1p64 - 2048, DType::u64) == -2048);
  CHECK(cast(5e-324, DType::i64) == 0);
  for (const DType to : kAllDTypes) {
    if (!is_integer(to)) continue;
    CAPTURE(name_of(to));
    CHECK(cast(NAN, to) == 0);
    CHECK(cast(-NAN, to) == 0);
    CHECK(cast(-0.0, to) == 0);
    const int width = bit_width(to);
    const std::uint64_t ones = truncate_to(to, ~std::uint64_t{0});
    const std::uint64_t least = is_signed(to) ? std::uint64_t{1} << (width - 1) : 0;
    CHECK(convert(DType::f64, to, std::bit_cast<std::uint64_t>(double{INFINITY})) == (ones ^ least));
    CHECK(convert(DType::f32, to, 0xff800000) == least);
    CHECK(convert(DType::bf16, to, 0x7f80) == (ones ^ least));
    CHECK(convert(DType::f16, to, 0xfc00) == least);
  }
  CHECK(convert(DType::f16, DType::i16, 0x7bff) == 0x7fff);  // 65504
  CHECK(convert(DType::f16, DType::u16, 0x7bff) == 65504);
  CHECK(convert(DType::f32, DType::i32, 0x4effffff) == 2147483520);
}

TEST_CASE("every f16 to every integer type is the truncated, clamped value") {
  for (const DType to : kAllDTypes) {
    if (!is_integer(to)) continue;
    CAPTURE(name_of(to));
    const Int128 most = (Int128{1} << (bit_width(to) - (is_signed(to) ? 1 : 0))) - 1;
    const Int128 least = is_signed(to) ? -most - 1 : 0;
    int failures = 0;
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      if ((bits & 0x7c00) == 0x7c00) continue;
      const auto whole = static_cast<Int128>(value_of(format_of(DType::f16), bits));
      const Int128 expected = std::min(std::max(whole, least), most);
      failures += convert(DType::f16, to, bits) == truncate_to(to, static_cast<std::uint64_t>(expected)) ? 0 : 1;
    }
    CHECK(failures == 0);
  }
}

TEST_CASE("integers wrap, bools are 0 or 1, a type's own cast keeps bits") {
  CHECK(convert(DType::i32, DType::u8, 0xffffff80) == 0x80);
  CHECK(convert(DType::i8, DType::i64, 0x80) == 0xffffffffffffff80);
  CHECK(convert(DType::u8, DType::i64, 0x80) == 0x80);
  CHECK(convert(DType::i8, DType::u16, 0xff) == 0xffff);
  CHECK(convert(DType::u64, DType::i32, 0x1'8000'0000) == 0x80000000);
  CHECK(convert(DType::i8, DType::boolean, 0x80) == 1);
  CHECK(convert(DType::i64, DType::boolean, 0) == 0);
  CHECK(convert(DType::f32, DType::boolean, 0x80000000) == 0);  // -0.0
  CHECK(convert(DType::f32, DType::boolean, 0x00000001) == 1);
  CHECK(convert(DType::f32, DType::boolean, 0x7fc00000) == 1);
  CHECK(convert(DType::f16, DType::boolean, 0x7c00) == 1);
  CHECK(convert(DType::boolean, DType::f32, 1) == 0x3f800000);
  CHECK(convert(DType::boolean, DType::bf16, 0x40) == 0x3f80);  // any byte but 0 is true
  CHECK(convert(DType::boolean, DType::i64, 0xff) == 1);
  CHECK(convert(DType::boolean, DType::u8, 0) == 0);
  CHECK(convert(DType::boolean, DType::boolean, 0x40) == 0x40);
  CHECK(convert(DType::f32, DType::f32, 0x7f800001) == 0x7f800001);  // a signalling NaN stays
}

TEST_CASE("a NaN stays a quiet one, with its sign") {
  CHECK(convert(DType::f32, DType::f16, 0x7f800001) == 0x7e00);
  CHECK(convert(DType::f32, DType::f16, 0xffc02000) == 0xfe01);
  CHECK(convert(DType::f16, DType::f32, 0x7c01) == 0x7fc02000);
  CHECK(convert(DType::f64, DType::bf16, 0x7ff0000000000001) == 0x7fc0);
  CHECK(convert(DType::bf16, DType::f64, 0xff81) == 0xfff8000000000000 + (std::uint64_t{1} << 45));
  CHECK_FALSE(is_nan(DType::f32, 0x7f800000));
  CHECK(is_nan(DType::f32, 0xff800001));
  CHECK_FALSE(is_nan(DType::i32, 0xff800001));
}
