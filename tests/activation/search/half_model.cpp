#include "tests/activation/search/half_model.h"

namespace padlock::activation::search {

using ir::Op;

namespace {

constexpr float kRounder = 0x1.8p23F;
constexpr float kLog2OfE = 0x1.715476p+0F, kLn2 = 0x1.62e43p-1F;
constexpr float kFirstOfLn2 = 0x1.62e4p-1F, kSecondOfLn2 = 0x1.7f7d1cp-20F;

float power_of_two(float shifted) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(shifted) << 23); }
float positive_part(float x) { return std::signbit(x) ? -0.0F : x; }

}  // namespace

float Model::horner(std::span<const float> c, std::size_t first, std::size_t step, float z) const {
  std::size_t i = first + (c.size() - 1 - first) / step * step;
  float result = c[i];
  while (i > first) result = fma(result, z, c[i -= step]);
  return result;
}

float Model::polynomial(int number, float z) const {
  const std::span<const float> c = polynomials_.at(static_cast<std::size_t>(number));
  if (kind_.op != Op::gelu || number != 1) return horner(c, 0, 1, z);
  const float square = z * z;
  return fma(horner(c, 1, 2, square), z, horner(c, 0, 2, square));
}

float Model::asked(int number, float z) const {
  if (number != replaced_) return polynomial(number, z);
  asked_at_ = z;
  return value_;
}

float Model::less_multiple(float k, float step, float from) const {
  const float units = step / kLn2;
  if (way_.fused) return std::fma(k, -step, from);
  return from - k * (kFirstOfLn2 * units) - k * (kSecondOfLn2 * units);
}

Model::Reduced Model::reduce(float x, float scale, int bias) const {
  const float rounder = kRounder + static_cast<float>(bias);
  const float shifted = fma(x, kLog2OfE * scale, rounder);
  return {less_multiple(shifted - rounder, kLn2 / scale, x), shifted};
}

float Model::quotient(float a, float b) const {
  if (!way_.refines) return a / b;
  const float near = std::bit_cast<float>(std::bit_cast<std::int32_t>(1 / b) + way_.units);
  const float first = near * a;
  return fma(fma(-b, first, a), near, first);
}

float Model::logistic(Reduced reduced, float numerator) const {
  return quotient(numerator, fma(asked(0, reduced.rest), power_of_two(reduced.shifted), numerator));
}

float Model::scaled(float value, float shifted) const {
  const float result = value * power_of_two(shifted);
  return kind_.is_f16() ? result : result * 0x1p-32F;
}

float Model::gelu_tanh(float x) const {
  const float above_least = at_least(x), a = at_most(above_least);
  const float slope = asked(1, a * a);
  const float rounder = kRounder + static_cast<float>(logistic_bias());
  const float shifted = fma(a, slope, rounder);
  const float rest = fma(a, slope, -(shifted - rounder));
  return above_least * logistic({rest, shifted}, kind_.is_f16() ? 0.875F : 0x1p-20F);
}

float Model::gelu(float x) const {
  const float a = at_most(std::abs(x)), square = a * a;
  const float slope = asked(1, a);
  const float rounder = kRounder + (kind_.is_f16() ? 126 : 126 + 32);
  const float shifted = fma(fma(a, slope, square), -kLog2OfE / 2, rounder);
  const float rest = fma(a, slope, less_multiple(shifted - rounder, -2 * kLn2, square));
  return fma(-a, scaled(asked(0, rest), shifted), positive_part(x));
}

float Model::log(float x) const {
  constexpr std::uint32_t kLeast = 0x3f3504f3;
  const bool is_subnormal = !kind_.is_f16() && x < 0x1p-126F;
  const std::uint32_t moved = std::bit_cast<std::uint32_t>(is_subnormal ? x * 0x1p32F : x) + (0x3f800000 - kLeast);
  const float k = std::bit_cast<float>(moved >> 23 | 0x4b000000) - (0x1p23F + (is_subnormal ? 159 : 127));
  const float f = std::bit_cast<float>((moved & 0x7fffff) + kLeast) - 1;
  const float of_m = asked(1, f);
  if (way_.fused) return std::fma(f, of_m, k * kLn2);
  return f * of_m + k * kSecondOfLn2 + k * kFirstOfLn2;
}

float Model::operator()(float x, Way way) const {
  way_ = way;
  const bool is_f16 = kind_.is_f16();
  switch (kind_.op) {
    case Op::exp: {
      const Reduced reduced = reduce(bounded(x), is_f16 ? 1 : 0.5F, 127);
      const float y = asked(0, reduced.rest) * power_of_two(reduced.shifted);
      return is_f16 ? y : y * y;
    }
    case Op::sigmoid:
      return logistic(reduce(bounded(x), -1, logistic_bias()), is_f16 ? 0.875F : 0x1p-20F);
    case Op::silu: {
      const float above_least = at_least(x);
      return above_least * logistic(reduce(at_most(above_least), -1, logistic_bias()), is_f16 ? 1 : 0x1p-20F);
    }
    case Op::gelu_tanh:
      return gelu_tanh(x);
    case Op::gelu:
      return gelu(x);
    case Op::softplus: {
      const Reduced reduced = reduce(at_most(std::abs(x)), -1, is_f16 ? 127 : 127 + 32);
      const float y = scaled(asked(0, reduced.rest), reduced.shifted);
      return fma(y, asked(1, y), positive_part(x));
    }
    case Op::erf: {
      const float a = bounded(x);
      return a * asked(1, fma(a * a, 2 / (most_ * most_), -1));
    }
    case Op::tanh: {
      const float a = bounded(x), square = a * a;
      return a * asked(1, square) * quotient(1, asked(2, square));
    }
    default:
      return log(x);
  }
}

}  // namespace padlock::activation::search
