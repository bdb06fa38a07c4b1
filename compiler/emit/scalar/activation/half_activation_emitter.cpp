#include "compiler/emit/scalar/activation/half_activation_emitter.h"

#include <algorithm>

#include "compiler/emit/scalar/activation/coefficients.h"

namespace padlock::compiler {

using activation::kLn2;
using activation::kLog2OfE;
using llvm::Value;

namespace {

constexpr int kFractionBits = 23;
constexpr int kExponentBias = 127;
/// Adding this to a number below 2^22 leaves the nearest whole number in the sum's last places.
constexpr double kHalfRounder = 0x1.8p23;

/// Rounded to f32, ln 2 is 1.9e-9 too large. That is near enough where a product is not rounded. Elsewhere ln 2 has two
/// parts, and k times the first is exact.
constexpr double kFirstOfLn2 = 0x1.62e4p-1;
constexpr double kSecondOfLn2 = 0x1.7f7d1cp-20;

/// 1 / (1 + e) is c / (c + c e). For bf16 c is so small that e may be large. For f16 the divisor stays below 2 for
/// small arguments. Above 2 it has one place less, and 1/2 + x/4, a tie of f16 for many x, would come from another tie.
constexpr double kNumeratorOfBf16 = 0x1p-20;
constexpr double kNumeratorOfF16 = 0.875;

/// For bf16, shares of x may be subnormal f32. Their powers of two are made larger by this exponent, and lose it at the
/// end.
constexpr int kMore = 32;

}  // namespace

/// Subtracts k times the step, a power of two times ln 2.
Value* HalfActivationEmitter::less_multiple(Value* k, double step, Value* from) {
  const double units = step / kLn2;
  if (f_.has_fma()) return f_.fma(k, -step, from);
  return f_.fma(k, -kSecondOfLn2 * units, f_.fma(k, -kFirstOfLn2 * units, from));
}

/// Reduces `scale` x, the argument of exp; `scale` is a power of two. The rest is of x itself.
HalfActivationEmitter::Reduced HalfActivationEmitter::reduce(Value* x, double scale, int bias) {
  Value* shifted = f_.fma(x, kLog2OfE * scale, kHalfRounder + bias);
  Value* k = f_.add(shifted, -(kHalfRounder + bias));
  return {less_multiple(k, kLn2 / scale, x), shifted};
}

Value* HalfActivationEmitter::power_of_two(Value* shifted) {
  return f_.from_bits(f_.builder().CreateShl(f_.bits_of(shifted), kFractionBits));
}

/// Multiplies by the power of two in `shifted`. For bf16 that power includes kMore, which a second product takes off.
Value* HalfActivationEmitter::scaled(Value* value, Value* shifted) {
  Value* result = f_.mul(value, power_of_two(shifted));
  return narrow_exponent_ ? result : f_.mul(result, 0x1p-32);
}

/// Computes bf16 as exp(x / 2), squared, so that no power of two overflows and no subnormal is lost.
Value* HalfActivationEmitter::exp(const Function& f, Value* x) {
  const auto [rest, shifted] = reduce(bounded(f, x), narrow_exponent_ ? 1 : 0.5, kExponentBias);
  Value* result = f_.mul(f_.polynomial(f.polynomial(0), rest), power_of_two(shifted));
  return narrow_exponent_ ? result : f_.mul(result, result);
}

/// Computes 1 / (1 + e). E has c in its coefficients, or the power of two has it.
Value* HalfActivationEmitter::logistic(const Function& f, const Reduced& reduced, double numerator) {
  Value* e = f_.polynomial(f.polynomial(0), reduced.rest);
  return f_.near_quotient(numerator, f_.fma(e, power_of_two(reduced.shifted), f_.constant(numerator)));
}
int HalfActivationEmitter::logistic_bias() const { return narrow_exponent_ ? kExponentBias : kExponentBias - 20; }

Value* HalfActivationEmitter::sigmoid(const Function& f, Value* x) {
  const double numerator = narrow_exponent_ ? kNumeratorOfF16 : kNumeratorOfBf16;
  return logistic(f, reduce(bounded(f, x), -1, logistic_bias()), numerator);
}

/// x may be infinite where its factor is 1.
Value* HalfActivationEmitter::silu(const Function& f, Value* x) {
  Value* above_least = f_.at_least(x, f.least);
  const Reduced reduced = reduce(f_.at_most(above_least, f.most), -1, logistic_bias());
  return f_.mul(above_least, logistic(f, reduced, narrow_exponent_ ? 1 : kNumeratorOfBf16));
}

/// P is a polynomial of x^2: the argument of exp divided by x, in units of ln 2. E is of 2^r.
Value* HalfActivationEmitter::gelu_tanh(const Function& f, Value* x) {
  Value* above_least = f_.at_least(x, f.least);
  Value* a = f_.at_most(above_least, f.most);
  Value* slope = f_.polynomial(f.polynomial(1), f_.mul(a, a));
  const double bias = kHalfRounder + logistic_bias();
  Value* shifted = f_.fma(a, slope, f_.constant(bias));
  Value* rest = f_.fma(a, slope, f_.builder().CreateFNeg(f_.add(shifted, -bias)));
  return f_.mul(above_least, logistic(f, {rest, shifted}, narrow_exponent_ ? kNumeratorOfF16 : kNumeratorOfBf16));
}

/// Computes max(x, 0) - a Phi(-a), a = |x|. Phi(-a) = exp(-a^2 / 2 - a H(a)) / 2 with a polynomial H, so that nothing
/// is divided. P is 2 H, and E is of exp(-r / 2). a^2 is exact, and the rest is rounded once at its size.
Value* HalfActivationEmitter::gelu(const Function& f, Value* x) {
  Value* a = f_.at_most(f_.magnitude(x), f.most);
  Value* square = f_.mul(a, a);
  Value* slope = f_.long_polynomial(f.polynomial(1), a);
  const double bias = kHalfRounder + kExponentBias - 1 + (narrow_exponent_ ? 0 : kMore);
  Value* shifted = f_.fma(f_.fma(a, slope, square), -kLog2OfE / 2, bias);
  Value* rest = f_.fma(a, slope, less_multiple(f_.add(shifted, -bias), -2 * kLn2, square));
  Value* share = scaled(f_.polynomial(f.polynomial(0), rest), shifted);
  return f_.fma(f_.builder().CreateFNeg(a), share, f_.positive_part(x));
}

/// Computes max(x, 0) + y P(y), y = exp(-|x|).
Value* HalfActivationEmitter::softplus(const Function& f, Value* x) {
  Value* a = f_.at_most(f_.magnitude(x), f.most);
  const auto [rest, shifted] = reduce(a, -1, kExponentBias + (narrow_exponent_ ? 0 : kMore));
  Value* y = scaled(f_.polynomial(f.polynomial(0), rest), shifted);
  return f_.fma(y, f_.polynomial(f.polynomial(1), y), f_.positive_part(x));
}

/// Multiplies x by a polynomial of x^2 whose variable is moved to [-1, 1].
Value* HalfActivationEmitter::erf(const Function& f, Value* x) {
  Value* a = bounded(f, x);
  const auto most = static_cast<float>(f.most);
  Value* square = f_.fma(f_.mul(a, a), 2 / (most * most), -1);
  return f_.mul(a, f_.polynomial(f.polynomial(1), square));
}

Value* HalfActivationEmitter::tanh(const Function& f, Value* x) {
  Value* a = bounded(f, x);
  Value* square = f_.mul(a, a);
  Value* above = f_.mul(a, f_.polynomial(f.polynomial(1), square));
  return f_.mul(above, f_.near_quotient(1, f_.polynomial(f.polynomial(2), square)));
}

/// Computes log(2^k m) = k ln 2 + f P(f), f = m - 1 and sqrt(1/2) <= m < sqrt(2). For bf16, first makes subnormals
/// normal.
Value* HalfActivationEmitter::log(const Function& f, Value* x) {
  constexpr std::uint64_t kLeast = 0x3f3504f3;  // the bits of sqrt(1/2)
  llvm::IRBuilder<>& builder = f_.builder();
  Value* normal = x;
  Value* bias = f_.constant(0x1p23 + kExponentBias);
  if (!narrow_exponent_) {
    Value* is_subnormal = builder.CreateFCmpOLT(x, f_.constant(0x1p-126));
    normal = builder.CreateSelect(is_subnormal, f_.mul(x, 0x1p32), x);
    bias = builder.CreateSelect(is_subnormal, f_.constant(0x1p23 + kExponentBias + kMore), bias);
  }
  Value* moved =
      builder.CreateAdd(f_.bits_of(normal), f_.bits((std::uint64_t{kExponentBias} << kFractionBits) - kLeast));
  Value* exponent = builder.CreateOr(builder.CreateLShr(moved, kFractionBits), f_.bits(0x4b000000));
  Value* k = f_.sub(f_.from_bits(exponent), bias);
  Value* mantissa = builder.CreateAnd(moved, f_.bits((std::uint64_t{1} << kFractionBits) - 1));
  Value* less_one = f_.add(f_.from_bits(builder.CreateAdd(mantissa, f_.bits(kLeast))), -1);
  Value* of_m = f_.polynomial(f.polynomial(1), less_one);
  Value* result = f_.has_fma() ? f_.fma(less_one, of_m, f_.mul(k, kLn2))
                               : f_.fma(k, kFirstOfLn2, f_.fma(k, kSecondOfLn2, f_.mul(less_one, of_m)));
  return f_.with_ends_of_log(x, result);
}

Value* HalfActivationEmitter::emit(ir::Op op, Value* x) {
  if (op == ir::Op::rsqrt) return f_.near_rsqrt(x, /*kept=*/!narrow_exponent_);
  const auto& functions = narrow_exponent_ ? activation::kOfF16 : activation::kOfBf16;
  const Function& f = *std::ranges::find(functions, op, &Function::op);
  switch (op) {
    case ir::Op::exp:
      return exp(f, x);
    case ir::Op::log:
      return log(f, x);
    case ir::Op::tanh:
      return tanh(f, x);
    case ir::Op::sigmoid:
      return sigmoid(f, x);
    case ir::Op::erf:
      return erf(f, x);
    case ir::Op::gelu:
      return gelu(f, x);
    case ir::Op::gelu_tanh:
      return gelu_tanh(f, x);
    case ir::Op::silu:
      return silu(f, x);
    default:
      return softplus(f, x);
  }
}

}  // namespace padlock::compiler
