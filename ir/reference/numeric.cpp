#include "ir/reference/numeric.h"

#include <algorithm>
#include <bit>

#include "support/int128.h"

namespace padlock::ir {
namespace {

/// A finite number: (-1)^negative * significand * 2^exponent.
struct Finite {
  bool negative = false;
  std::uint64_t significand = 0;
  int exponent = 0;
};

/// Precondition: neither infinite nor NaN.
Finite unpack(FloatFormat format, std::uint64_t bits) {
  const int field = static_cast<int>((bits & format.infinity()) >> format.fraction_bits);
  const std::uint64_t hidden = field == 0 ? 0 : std::uint64_t{1} << format.fraction_bits;
  return {.negative = (bits & format.sign_mask()) != 0,
          .significand = (bits & format.fraction_mask()) | hidden,
          .exponent = std::max(field, 1) - format.bias() - format.fraction_bits};
}

/// significand / 2^shift, rounded to nearest even.
std::uint64_t shift_right_rounded(std::uint64_t significand, int shift) {
  if (shift > 65) return 0;  // below half of the last place: significand < 2^64
  const UInt128 wide = significand;
  const UInt128 half = UInt128{1} << (shift - 1);
  const UInt128 remainder = wide & ((half << 1) - 1);
  const auto quotient = static_cast<std::uint64_t>(wide >> shift);
  const bool up = remainder > half || (remainder == half && (quotient & 1) != 0);
  return quotient + (up ? 1 : 0);
}

std::uint64_t nan_to_nan(FloatFormat from, FloatFormat to, std::uint64_t bits) {
  const std::uint64_t payload = bits & from.fraction_mask();
  const int shift = to.fraction_bits - from.fraction_bits;
  const std::uint64_t sign = (bits >> from.sign_shift()) << to.sign_shift();
  return sign | to.quiet_nan() | (shift >= 0 ? payload << shift : payload >> -shift);
}

std::uint64_t float_to_float(DType from, DType to, std::uint64_t bits) {
  const FloatFormat source = format_of(from);
  const FloatFormat target = format_of(to);
  if (is_nan(from, bits)) return nan_to_nan(source, target, bits);
  if ((bits & source.infinity()) == source.infinity())
    return (bits >> source.sign_shift()) << target.sign_shift() | target.infinity();
  const Finite x = unpack(source, bits);
  return round_to_float(to, x.negative, x.significand, x.exponent);
}

std::uint64_t integer_to_float(DType from, DType to, std::uint64_t bits) {
  const std::uint64_t value = extend_from(from, bits);
  const bool negative = is_signed(from) && static_cast<std::int64_t>(value) < 0;
  return round_to_float(to, negative, negative ? 0 - value : value, 0);
}

/// Returns the largest magnitude of an integer type on one side of zero.
std::uint64_t largest_magnitude(DType type, bool negative) {
  if (!is_signed(type)) return negative ? 0 : truncate_to(type, ~std::uint64_t{0});
  const std::uint64_t least = std::uint64_t{1} << (bit_width(type) - 1);
  return negative ? least : least - 1;
}

/// Returns the integer part of |x|, or `limit` if that is smaller.
std::uint64_t truncated_magnitude(const Finite& x, std::uint64_t limit) {
  if (x.exponent <= 0) return x.exponent <= -64 ? 0 : std::min(x.significand >> -x.exponent, limit);
  if (std::bit_width(x.significand) + x.exponent > 64) return x.significand == 0 ? 0 : limit;
  return std::min(x.significand << x.exponent, limit);
}

std::uint64_t float_to_integer(DType from, DType to, std::uint64_t bits) {
  if (is_nan(from, bits)) return 0;
  const FloatFormat format = format_of(from);
  const bool negative = (bits & format.sign_mask()) != 0;
  const std::uint64_t limit = largest_magnitude(to, negative);
  const bool infinite = (bits & format.infinity()) == format.infinity();
  const std::uint64_t magnitude = infinite ? limit : truncated_magnitude(unpack(format, bits), limit);
  return truncate_to(to, negative ? 0 - magnitude : magnitude);
}

bool is_nonzero(DType dtype, std::uint64_t bits) {
  return is_float(dtype) ? (bits & ~format_of(dtype).sign_mask()) != 0 : bits != 0;
}

}  // namespace

std::uint64_t round_to_float(DType to, bool negative, std::uint64_t significand, int exponent) {
  const FloatFormat format = format_of(to);
  const std::uint64_t sign = negative ? format.sign_mask() : 0;
  if (significand == 0) return sign;
  const int leading = exponent + std::bit_width(significand) - 1;  // weight of the first bit
  if (leading > format.bias()) return sign | format.infinity();
  const int least_normal = 1 - format.bias();
  const int last_place = std::max(leading, least_normal) - format.fraction_bits;
  const int shift = last_place - exponent;
  const std::uint64_t rounded = shift <= 0 ? significand << -shift : shift_right_rounded(significand, shift);
  // `rounded` of a normal number includes the hidden bit, which adds one step to the exponent field. That and a carry
  // from rounding (to the next power of two, to the least normal, to infinity) come out right by plain addition.
  const int field = std::max(leading, least_normal) - least_normal;
  return sign | ((static_cast<std::uint64_t>(field) << format.fraction_bits) + rounded);
}

std::uint64_t convert(DType from, DType to, std::uint64_t bits) {
  if (from == to) return bits;
  if (to == DType::boolean) return is_nonzero(from, bits) ? 1 : 0;
  if (from == DType::boolean) return convert(DType::u8, to, bits != 0 ? 1 : 0);
  if (is_float(to)) return is_float(from) ? float_to_float(from, to, bits) : integer_to_float(from, to, bits);
  if (is_float(from)) return float_to_integer(from, to, bits);
  return truncate_to(to, extend_from(from, bits));
}

double double_from_bits(DType dtype, std::uint64_t bits) {
  return std::bit_cast<double>(convert(dtype, DType::f64, bits));
}
float float_from_bits(DType dtype, std::uint64_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(convert(dtype, DType::f32, bits)));
}
std::uint64_t bits_from_double(DType dtype, double value) {
  return convert(DType::f64, dtype, std::bit_cast<std::uint64_t>(value));
}
std::uint64_t bits_from_float(DType dtype, float value) {
  return convert(DType::f32, dtype, std::bit_cast<std::uint32_t>(value));
}

}  // namespace padlock::ir
