#include "onnx/fraction.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "ir/text/literal.h"
#include "onnx/node_import.h"

namespace padlock::onnx {
namespace {

constexpr std::int64_t kMostDenominator = std::int64_t{1} << 30;
/// A larger factor leaves too few sizes exact for a useful program: 0.1 is 13421773 / 2^27.
constexpr std::int64_t kMostFactor = 4096;

/// Returns the largest n such that the type holds every integer up to n + 1, so that no rounded number is n; 0 for
/// types other than f32 and f64.
std::int64_t most_of(ir::DType dtype) {
  if (dtype == ir::DType::f32) return (std::int64_t{1} << 24) - 1;
  if (dtype == ir::DType::f64) return (std::int64_t{1} << 53) - 1;
  return 0;
}

bool is_power_of_two(std::int64_t n) { return std::has_single_bit(static_cast<std::uint64_t>(n)); }

std::vector<FloatBound> bounds_of(const Fraction& a, const Fraction& b) {
  std::vector<FloatBound> bounds = a.bounds;
  bounds.insert(bounds.end(), b.bounds.begin(), b.bounds.end());
  return bounds;
}

std::optional<double> number_of(const ir::Scalar& scalar) {
  if (scalar.dtype == ir::DType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(scalar.bits));
  if (scalar.dtype == ir::DType::f64) return std::bit_cast<double>(scalar.bits);
  return std::nullopt;
}

}  // namespace

std::string FractionMath::text(const Fraction& a) const {
  const std::string above = sizes_.text(a.numerator);
  return a.denominator == 1 ? above : fmt::format("({}) / {}", above, a.denominator);
}

Status FractionMath::check_exact(const Fraction& a) const {
  if (!a.is_rounded) return {};
  return refused(fmt::format("{} is rounded in {}: expected Ceil, Floor or a Cast to integers of it, which are exact",
                             text(a), name_of(dtype_)));
}

Result<Fraction> FractionMath::make(Expr numerator, std::int64_t denominator, std::vector<FloatBound> bounds) const {
  const std::int64_t most = most_of(dtype_);
  if (most == 0) return refused(fmt::format("sizes as {}; expected f32 or f64", name_of(dtype_)));
  const auto number = literal(numerator);
  // The remainder has the same divisors as the number, and std::gcd can take its magnitude even for the least int64.
  const std::int64_t common = number ? std::gcd(*number % denominator, denominator) : 1;
  Fraction made{.numerator = number ? sizes_.constant(*number / common) : numerator,
                .denominator = denominator / common,
                .is_rounded = false,
                .bounds = std::move(bounds)};
  made.is_rounded = !is_power_of_two(made.denominator);
  if (made.denominator > kMostDenominator)
    return refused(fmt::format("{} may be rounded in {}", text(made), name_of(dtype_)));
  if (number && (*number / common > most || *number / common < -most))
    return refused(fmt::format("{} is rounded in {}", text(made), name_of(dtype_)));
  if (!number) made.bounds.push_back({numerator, most});
  return made;
}

Result<Fraction> FractionMath::from_size(Expr size) const { return make(size, 1, {}); }

Result<Fraction> FractionMath::from_constant(const ir::Scalar& number) const {
  const auto value = number_of(number);
  if (!value || !std::isfinite(*value))
    return refused(
        fmt::format("sizes are computed with {}; expected a finite number of f32 or f64", to_string(number)));
  if (*value == 0) return make(sizes_.constant(0), 1, {});
  int exponent = 0;
  // The 53 digits of the mantissa; trailing zeros go to the exponent.
  auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(*value, &exponent), 53));
  exponent -= 53;
  const int zeros = std::countr_zero(static_cast<std::uint64_t>(digits));
  digits /= std::int64_t{1} << zeros;
  exponent += zeros;
  if (exponent < -30 || exponent > 52)
    return refused(fmt::format("sizes are computed with {}, which is rounded", to_string(number)));
  if (exponent <= 0) return make(sizes_.constant(digits), std::int64_t{1} << -exponent, {});
  return make(sizes_.mul(sizes_.constant(digits), sizes_.constant(std::int64_t{1} << exponent)), 1, {});
}

Result<Fraction> FractionMath::convert(const Fraction& a) const {
  PADLOCK_CHECK(check_exact(a));
  return make(a.numerator, a.denominator, a.bounds);
}

/// Both denominators are powers of two.
Expr FractionMath::scaled(const Fraction& a, std::int64_t denominator) const {
  return sizes_.mul(a.numerator, sizes_.constant(denominator / a.denominator));
}

Result<Fraction> FractionMath::add(const Fraction& a, const Fraction& b) const {
  PADLOCK_CHECK(check_exact(a));
  PADLOCK_CHECK(check_exact(b));
  const std::int64_t denominator = std::max(a.denominator, b.denominator);
  return make(sizes_.add(scaled(a, denominator), scaled(b, denominator)), denominator, bounds_of(a, b));
}

Result<Fraction> FractionMath::sub(const Fraction& a, const Fraction& b) const {
  PADLOCK_TRY(const Fraction negative, neg(b));
  return add(a, negative);
}

Result<Fraction> FractionMath::mul(const Fraction& a, const Fraction& b) const {
  PADLOCK_CHECK(check_exact(a));
  PADLOCK_CHECK(check_exact(b));
  for (const auto& [factor, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    const auto number = literal(factor->numerator);
    if (number && !literal(other->numerator) && (*number > kMostFactor || *number < -kMostFactor))
      return refused(fmt::format("({}) times ({}) is rounded in {}", text(*other), text(*factor), name_of(dtype_)));
  }
  return make(sizes_.mul(a.numerator, b.numerator), a.denominator * b.denominator, bounds_of(a, b));
}

Result<Fraction> FractionMath::div(const Fraction& a, const Fraction& b) const {
  PADLOCK_CHECK(check_exact(a));
  PADLOCK_CHECK(check_exact(b));
  const auto divisor = literal(b.numerator);
  if (!divisor || *divisor == 0)
    return refused(fmt::format("sizes as floats are divided by {}; expected a constant that is not 0", text(b)));
  std::int64_t above = b.denominator, below = a.denominator;
  if (*divisor > kMostDenominator || *divisor < -kMostDenominator)
    return refused(fmt::format("sizes as floats are divided by {}", text(b)));
  below *= std::abs(*divisor);
  const std::int64_t common = std::gcd(above, below);
  above /= common;
  below /= common;
  if (above > kMostFactor && !literal(a.numerator))
    return refused(fmt::format("({}) / ({}) is rounded in {}", text(a), text(b), name_of(dtype_)));
  return make(sizes_.mul(a.numerator, sizes_.constant(*divisor < 0 ? -above : above)), below, bounds_of(a, b));
}

Result<Fraction> FractionMath::min(const Fraction& a, const Fraction& b) const { return extreme(a, b, &SizeMath::min); }
Result<Fraction> FractionMath::max(const Fraction& a, const Fraction& b) const { return extreme(a, b, &SizeMath::max); }

/// The result is one of the two, so it needs no bound of its own.
Result<Fraction> FractionMath::extreme(const Fraction& a, const Fraction& b,
                                       Expr (SizeMath::*function)(Expr, Expr)) const {
  PADLOCK_CHECK(check_exact(a));
  PADLOCK_CHECK(check_exact(b));
  const std::int64_t denominator = std::max(a.denominator, b.denominator);
  return Fraction{.numerator = (sizes_.*function)(scaled(a, denominator), scaled(b, denominator)),
                  .denominator = denominator,
                  .is_rounded = false,
                  .bounds = bounds_of(a, b)};
}

Result<Fraction> FractionMath::neg(const Fraction& a) const {
  Fraction made = a;
  made.numerator = sizes_.neg(a.numerator);
  return made;
}

Result<Fraction> FractionMath::abs(const Fraction& a) const {
  Fraction made = a;
  made.numerator = sizes_.abs(a.numerator);
  return made;
}

Result<Fraction> FractionMath::whole(Expr number, const Fraction& from) const {
  return Fraction{.numerator = number, .denominator = 1, .is_rounded = false, .bounds = from.bounds};
}

Result<Fraction> FractionMath::floor(const Fraction& a) const {
  return whole(sizes_.floordiv(a.numerator, sizes_.constant(a.denominator)), a);
}

Result<Fraction> FractionMath::ceil(const Fraction& a) const {
  return whole(sizes_.ceildiv(a.numerator, sizes_.constant(a.denominator)), a);
}

Result<Expr> FractionMath::truncate(const Fraction& a) const {
  PADLOCK_CHECK(require(sizes_, a.bounds));
  if (a.denominator == 1) return a.numerator;
  return sizes_.truncated_div(a.numerator, sizes_.constant(a.denominator));
}

Status require(SizeMath& sizes, const std::vector<FloatBound>& bounds) {
  for (const FloatBound& bound : bounds) {
    if (!sizes.require(bound.size, ir::Comparison::le, bound.most) ||
        !sizes.require(bound.size, ir::Comparison::ge, -bound.most))
      return refused(fmt::format("{} is beyond {} in magnitude, and so rounded", sizes.text(bound.size), bound.most));
  }
  return {};
}

}  // namespace padlock::onnx
