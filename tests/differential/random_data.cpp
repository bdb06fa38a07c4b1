#include "tests/differential/random_data.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace padlock::differential {
namespace {

using ir::DType;

struct FloatFormat {
  int mantissa;
  int exponent;
};

constexpr FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {52, 11};
    case DType::f32:
      return {23, 8};
    case DType::f16:
      return {10, 5};
    default:
      return {7, 8};
  }
}

std::uint64_t low_bits(int count) { return count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1; }

/// Half way between two neighbours of a format with `kept` mantissa bits, or one last bit beside that.
std::uint64_t tie_mantissa(int mantissa, int kept, testing::Rng& rng) {
  const int dropped = mantissa - kept;
  const std::uint64_t top = (rng.next() & low_bits(kept)) << dropped;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  return (top | half) + static_cast<std::uint64_t>(rng.between(-1, 1));
}

std::uint64_t tie_bits(FloatFormat f, testing::Rng& rng) {
  static constexpr std::array kKept = {23, 10, 7};
  const int kept = rng.pick(kKept);
  if (kept >= f.mantissa) return rng.next() & low_bits(1 + f.exponent + f.mantissa);
  // Near 1, so that every narrower type can hold the value; sometimes at the edge of f16's range, where rounding
  // overflows or meets denormals.
  const int bias = (1 << (f.exponent - 1)) - 1;
  static constexpr std::array kExponents = {0, 1, 3, -3, 15, -14, -15, -24, -25, 8};
  const auto exponent = static_cast<std::uint64_t>(std::max(0, bias + rng.pick(kExponents)));
  const std::uint64_t sign = rng.next() & 1;
  return sign << (f.mantissa + f.exponent) | exponent << f.mantissa | tie_mantissa(f.mantissa, kept, rng);
}

/// A multiple of 1/4 in [-32, 32]: exact in every float type.
std::uint64_t small_float(FloatFormat f, testing::Rng& rng) {
  const double value = static_cast<double>(rng.between(-128, 128)) / 4;
  const auto wide = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t sign = wide >> 63 << (f.mantissa + f.exponent);
  if (value == 0) return sign;
  const auto exponent = static_cast<std::int64_t>(wide >> 52 & 0x7ff) - 1023 + (1 << (f.exponent - 1)) - 1;
  return sign | static_cast<std::uint64_t>(exponent) << f.mantissa | (wide & low_bits(52)) >> (52 - f.mantissa);
}

std::uint64_t special_float(FloatFormat f, testing::Rng& rng) {
  const std::uint64_t sign = (rng.next() & 1) << (f.mantissa + f.exponent);
  const std::uint64_t infinity = low_bits(f.exponent) << f.mantissa;
  const std::uint64_t payload = rng.next() & low_bits(f.mantissa);
  switch (rng.between(0, 7)) {
    case 0:
      return sign;  // zero
    case 1:
      return sign | infinity;
    case 2:
      return sign | infinity | 1;  // signalling NaN
    case 3:
      return sign | infinity | (payload == 0 ? 1 : payload);  // NaN
    case 4:
      return sign | 1;  // least denormal
    case 5:
      return sign | payload;  // denormal
    case 6:
      return sign | (infinity - 1);  // largest finite
    default:
      return sign | std::uint64_t{1} << f.mantissa;  // least normal
  }
}

std::uint64_t random_float(DType dtype, testing::Rng& rng) {
  const FloatFormat f = format_of(dtype);
  const std::int64_t kind = rng.between(0, 99);
  if (kind < 40) return small_float(f, rng);
  if (kind < 60) return tie_bits(f, rng);
  if (kind < 80) return special_float(f, rng);
  return rng.next() & low_bits(ir::bit_width(dtype));
}

std::uint64_t random_integer(DType dtype, testing::Rng& rng) {
  // Where conversions to floats round: ties of bf16, f16, f32 and f64, and the edges of f16's range.
  static constexpr std::array<std::int64_t, 14> kEdges = {
      257,      259,      2049,     2051,       65504,   65519,      65520,
      16777217, 16777219, 33554434, 2147483647, 8388609, 4294967295, 9007199254740993};
  const int width = ir::bit_width(dtype);
  const std::uint64_t mask = low_bits(width);
  switch (rng.between(0, 9)) {
    case 0:
      return static_cast<std::uint64_t>(rng.pick(kEdges)) & mask;
    case 1:
      return (std::uint64_t{0} - static_cast<std::uint64_t>(rng.pick(kEdges))) & mask;
    case 2:
      return mask;
    case 3:
      return mask >> 1;
    case 4:
      return std::uint64_t{1} << (width - 1);
    case 5:
      return rng.next() & mask;
    case 6: {  // a tie at a random magnitude
      const auto shift = static_cast<int>(rng.between(0, width - 1));
      return ((rng.next() | 1) << shift | static_cast<std::uint64_t>(rng.between(0, 1))) & mask;
    }
    default:
      return static_cast<std::uint64_t>(rng.between(-20, 20)) & mask;
  }
}

std::string float_literal(DType dtype, testing::Rng& rng) {
  static constexpr std::array kTexts = {
      "0",      "-0",   "1",       "-1",  "0.1",     "-1.5", "2.5",  "1e-3",
      "3.25e2", "inf",  "-inf",    "nan", "65504.0", "-0.0", "6e-8", "1.0001220703125",
      "257",    "2049", "1.0e-40", "-7",  "33.75",   "12345"};
  return rng.chance(70) ? rng.pick(kTexts) : fmt::format("bits({:#x})", random_float(dtype, rng));
}

std::string integer_literal(DType dtype, testing::Rng& rng) {
  const std::uint64_t bits = random_integer(dtype, rng);
  if (rng.chance(20)) return fmt::format("bits({:#x})", bits);
  if (!ir::is_signed(dtype)) return fmt::format("{}", bits);
  const int unused = 64 - ir::bit_width(dtype);
  return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
}

}  // namespace

std::uint64_t random_bits(DType dtype, testing::Rng& rng) {
  if (ir::is_float(dtype)) return random_float(dtype, rng);
  if (ir::is_integer(dtype)) return random_integer(dtype, rng);
  return rng.chance(90) ? rng.next() & 1 : rng.next() & 0xff;
}

void fill_random(std::span<std::byte> storage, DType dtype, testing::Rng& rng) {
  const auto bytes = static_cast<std::size_t>(ir::byte_size(dtype));
  for (std::size_t at = 0; at + bytes <= storage.size(); at += bytes) {
    const std::uint64_t bits = random_bits(dtype, rng);
    std::memcpy(storage.data() + at, &bits, bytes);  // little-endian, as every host this runs on
  }
}

std::string random_literal(DType dtype, testing::Rng& rng) {
  if (ir::is_float(dtype)) return float_literal(dtype, rng);
  if (ir::is_integer(dtype)) return integer_literal(dtype, rng);
  static constexpr std::array kTexts = {"true", "false", "0", "1"};
  return rng.pick(kTexts);
}

}  // namespace padlock::differential
