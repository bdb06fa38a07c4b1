#pragma once

#include <cstdint>

#include "ir/dtype.h"

// Values of the element types as bit patterns: the low bit_width(dtype) bits of a std::uint64_t, the rest 0. Everything
// here is integer arithmetic, so that no host's conversion instructions, flush modes or runtime library affect the
// reference's results. Pure functions, thread-safe, total: no input is refused.
namespace padlock::ir {

/// An IEEE 754 binary interchange format (bf16 is one with f32's exponent).
struct FloatFormat {
  int exponent_bits = 0;
  int fraction_bits = 0;

  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int sign_shift() const { return exponent_bits + fraction_bits; }
  [[nodiscard]] constexpr std::uint64_t sign_mask() const { return std::uint64_t{1} << sign_shift(); }
  [[nodiscard]] constexpr std::uint64_t fraction_mask() const { return (std::uint64_t{1} << fraction_bits) - 1; }
  /// Positive infinity; also the mask of the exponent field.
  [[nodiscard]] constexpr std::uint64_t infinity() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
  [[nodiscard]] constexpr std::uint64_t one() const { return static_cast<std::uint64_t>(bias()) << fraction_bits; }
  /// The positive quiet NaN with payload 0.
  [[nodiscard]] constexpr std::uint64_t quiet_nan() const {
    return infinity() | (std::uint64_t{1} << (fraction_bits - 1));
  }
};

/// Precondition: is_float(dtype).
[[nodiscard]] constexpr FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {11, 52};
    case DType::f16:
      return {5, 10};
    case DType::bf16:
      return {8, 7};
    default:
      return {8, 23};
  }
}

/// Returns the low bit_width(dtype) bits.
[[nodiscard]] constexpr std::uint64_t truncate_to(DType dtype, std::uint64_t bits) {
  return bit_width(dtype) == 64 ? bits : bits & ((std::uint64_t{1} << bit_width(dtype)) - 1);
}
/// Returns an integer's value modulo 2^64: sign-extended if its type is signed.
[[nodiscard]] constexpr std::uint64_t extend_from(DType dtype, std::uint64_t bits) {
  if (!is_signed(dtype)) return bits;
  const int unused = 64 - bit_width(dtype);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
}

/// Returns whether a floating-point pattern is a NaN; false for other types.
[[nodiscard]] constexpr bool is_nan(DType dtype, std::uint64_t bits) {
  if (!is_float(dtype)) return false;
  const FloatFormat format = format_of(dtype);
  return (bits & ~format.sign_mask()) > format.infinity();
}

/// Rounds (-1)^negative * significand * 2^exponent once, to nearest even. Beyond the largest finite value returns
/// infinity; subnormals are kept. Precondition: is_float(to).
[[nodiscard]] std::uint64_t round_to_float(DType to, bool negative, std::uint64_t significand, int exponent);

/// The language's `cast`, for every pair of types. To a float: rounded once, straight from the source; too large values
/// become infinity; a NaN stays a NaN, quiet, with its sign and the leading bits of its payload. Float to integer:
/// truncates and saturates, and NaN gives 0. Integer to integer: wraps. To bool: `x != 0` (NaN: true); from bool: 0 or
/// 1 (`byte != 0`). To its own type: the same bits.
[[nodiscard]] std::uint64_t convert(DType from, DType to, std::uint64_t bits);

/// Converts a floating-point pattern to a host number. Exact (f32 takes f16, bf16 and f32). Precondition:
/// is_float(dtype).
[[nodiscard]] double double_from_bits(DType dtype, std::uint64_t bits);
[[nodiscard]] float float_from_bits(DType dtype, std::uint64_t bits);
/// Converts a host number to a floating-point type, rounded once. Precondition: is_float(dtype).
[[nodiscard]] std::uint64_t bits_from_double(DType dtype, double value);
[[nodiscard]] std::uint64_t bits_from_float(DType dtype, float value);

}  // namespace padlock::ir
