#include "ir/text/literal.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "ir/text/decimal.h"
#include "support/int128.h"

namespace padlock::ir {
namespace {

/// Shape of an IEEE binary format.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;

  [[nodiscard]] std::uint64_t exponent_mask() const {
    return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  }
  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (exponent_bits + fraction_bits); }
  [[nodiscard]] std::uint64_t quiet_nan() const { return exponent_mask() | std::uint64_t{1} << (fraction_bits - 1); }
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {11, 52};
    case DType::f32:
      return {8, 23};
    case DType::f16:
      return {5, 10};
    default:
      return {8, 7};  // bf16
  }
}

/// Returns the magnitude `bits` of a format as a double. Exact, because every format fits in one.
double widen(std::uint64_t bits, const FloatFormat& format) {
  const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << format.fraction_bits) - 1));
  const int exponent = static_cast<int>((bits & format.exponent_mask()) >> format.fraction_bits);
  const double ulp = std::ldexp(1.0, std::max(exponent, 1) - format.bias() - format.fraction_bits);
  return (exponent == 0 ? fraction : fraction + std::ldexp(1.0, format.fraction_bits)) * ulp;
}

/// Returns the bits of the largest value of the format that is at most `value`, finite and >= 0. Exact: nothing is
/// rounded.
std::uint64_t truncate(double value, const FloatFormat& format) {
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value), 1 - format.bias());
  const double scaled = std::ldexp(value, format.fraction_bits - exponent);  // in [0, 2^(fraction_bits + 1))
  const auto significand = static_cast<std::uint64_t>(scaled);
  // If there is a hidden bit, it carries into the exponent field.
  return (static_cast<std::uint64_t>(exponent + format.bias() - 1) << format.fraction_bits) + significand;
}

/// Rounds a decimal to the nearest value of a 16-bit format, ties to even. `nearest` is the double nearest to the
/// decimal. The midpoint of two neighbours is a double. So unless `nearest` is that midpoint, it lies on the same side
/// of it as the decimal.
std::uint64_t round_to_16_bits(const Decimal& decimal, double nearest, const FloatFormat& format) {
  const std::uint64_t below = truncate(nearest, format);
  if (below >= format.exponent_mask()) return format.exponent_mask();
  const double lower = widen(below, format);
  // Above the largest finite value the next one would be 2^(bias + 1).
  const double upper = widen(below + 1, format);
  const double midpoint = lower + (upper - lower) / 2;
  int order = nearest < midpoint ? -1 : nearest > midpoint ? 1 : 0;
  if (order == 0) order = compare(decimal, exact_decimal(midpoint));
  const bool up = order > 0 || (order == 0 && (below & 1) != 0);
  return below + (up ? 1 : 0);
}

/// Returns the float nearest to a decimal; infinity if the decimal rounds to it.
template <class Float>
Float nearest_float(std::string_view text, const Decimal& decimal) {
  Float value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range)
    return decimal.exponent > 0 ? std::numeric_limits<Float>::infinity() : Float{0};
  return value;
}

std::uint64_t round_magnitude(std::string_view text, const Decimal& decimal, DType dtype) {
  if (decimal.digits.empty()) return 0;
  if (dtype == DType::f32) return std::bit_cast<std::uint32_t>(nearest_float<float>(text, decimal));
  const auto value = nearest_float<double>(text, decimal);
  if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(value);
  if (std::isinf(value)) return format_of(dtype).exponent_mask();
  return round_to_16_bits(decimal, value, format_of(dtype));
}

std::unexpected<Error> mismatch(DType dtype, std::string_view text) {
  const std::string_view what = dtype == DType::boolean ? "true, false, 0 or 1"
                                : is_float(dtype)       ? "a number, inf, nan or bits(...)"
                                                        : "an integer in its range or bits(...)";
  return invalid_argument(fmt::format("expected a literal of type {}: {}, found '{}'", name_of(dtype), what, text));
}

Result<Scalar> parse_bits(std::string_view text, DType dtype) {
  const std::string_view digits = text.substr(7, text.size() - 8);  // "bits(0x" and ")"
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  if (digits.empty() || error == std::errc::invalid_argument || end != digits.data() + digits.size())
    return invalid_argument(fmt::format("expected bits(0x...), found '{}'", text));
  if (error == std::errc::result_out_of_range || (bit_width(dtype) < 64 && bits >> bit_width(dtype) != 0))
    return invalid_argument(
        fmt::format("expected bits below 2^{} for the type {}, found '{}'", bit_width(dtype), name_of(dtype), text));
  return Scalar{dtype, bits};
}

Result<Scalar> parse_float(std::string_view text, DType dtype) {
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = text.substr(negative ? 1 : 0);
  const FloatFormat format = format_of(dtype);
  const std::uint64_t sign = negative ? format.sign_bit() : 0;
  if (text == "nan") return Scalar{dtype, format.quiet_nan()};
  if (magnitude == "inf") return Scalar{dtype, sign | format.exponent_mask()};
  const auto decimal = parse_decimal(magnitude);
  if (!decimal) return mismatch(dtype, text);
  const std::uint64_t bits = round_magnitude(magnitude, *decimal, dtype);
  if (bits >= format.exponent_mask())
    return invalid_argument(fmt::format("expected a literal that is finite in {}, found '{}', which rounds to infinity",
                                        name_of(dtype), text));
  return Scalar{dtype, sign | bits};
}

std::optional<Int128> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  Int128 value = 0;
  for (const char c : digits) value = std::min(value * 10 + (c - '0'), Int128{1} << 100);
  return negative ? -value : value;
}

Result<Scalar> parse_int(std::string_view text, DType dtype) {
  const auto value = parse_integer(text);
  if (!value) return mismatch(dtype, text);
  const int width = bit_width(dtype);
  const Int128 low = is_signed(dtype) ? -(Int128{1} << (width - 1)) : 0;
  const Int128 high = (Int128{1} << (is_signed(dtype) ? width - 1 : width)) - 1;
  if (*value < low || *value > high)
    return invalid_argument(fmt::format("expected an integer of type {} in [{}, {}], found '{}'", name_of(dtype),
                                        padlock::to_string(low), padlock::to_string(high), text));
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
  return Scalar{dtype, static_cast<std::uint64_t>(*value) & mask};
}

Result<Scalar> parse_bool(std::string_view text) {
  if (text == "true") return Scalar{DType::boolean, 1};
  if (text == "false") return Scalar{DType::boolean, 0};
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > 1) return mismatch(DType::boolean, text);
  return Scalar{DType::boolean, static_cast<std::uint64_t>(*value)};
}

template <class Float>
std::string shortest(Float value) {
  std::array<char, 64> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

/// Returns the shortest decimal that reads back to the magnitude of a 16-bit float: tries one precision after another.
std::string shortest_16_bits(std::uint64_t magnitude, DType dtype) {
  const double value = widen(magnitude, format_of(dtype));
  for (int precision = 0; precision < 16; ++precision) {
    std::array<char, 64> buffer;
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific, precision);
    double rounded = 0;
    std::from_chars(buffer.data(), end.ptr, rounded);
    std::string text = shortest(rounded);
    const auto back = parse_float(text, dtype);
    if (back && back->bits == magnitude) return text;
  }
  return fmt::format("bits({:#x})", magnitude);
}

std::string float_to_string(const Scalar& value) {
  const FloatFormat format = format_of(value.dtype);
  const std::uint64_t magnitude = value.bits & (format.sign_bit() - 1);
  if (value.bits == format.quiet_nan()) return "nan";
  if (magnitude > format.exponent_mask()) return fmt::format("bits({:#x})", value.bits);
  const std::string sign = value.bits == magnitude ? "" : "-";
  if (magnitude == format.exponent_mask()) return sign + "inf";
  if (value.dtype == DType::f64) return sign + shortest(std::bit_cast<double>(magnitude));
  if (value.dtype == DType::f32) return sign + shortest(std::bit_cast<float>(static_cast<std::uint32_t>(magnitude)));
  return sign + shortest_16_bits(magnitude, value.dtype);
}

}  // namespace

Result<Scalar> parse_literal(std::string_view text, DType dtype) {
  if (text.starts_with("bits(0x") && text.ends_with(')')) return parse_bits(text, dtype);
  if (dtype == DType::boolean) return parse_bool(text);
  return is_float(dtype) ? parse_float(text, dtype) : parse_int(text, dtype);
}

std::string to_string(const Scalar& value) {
  if (value.dtype == DType::boolean && value.bits > 1) return fmt::format("bits({:#x})", value.bits);
  if (value.dtype == DType::boolean) return value.bits != 0 ? "true" : "false";
  if (is_float(value.dtype)) return float_to_string(value);
  if (!is_signed(value.dtype)) return fmt::format("{}", value.bits);
  const int shift = 64 - bit_width(value.dtype);
  return fmt::format("{}", static_cast<std::int64_t>(value.bits << shift) >> shift);
}

}  // namespace padlock::ir
