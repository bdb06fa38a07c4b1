#include "compiler/emit/scalar/activation/activation_emitter.h"

namespace padlock::compiler {

using llvm::Value;
using namespace activation;

namespace {

/// Adding this leaves the nearest whole number plus f64's exponent bias in a sum's last places.
constexpr double kRounder = 0x1.8p52 + 1023;
/// As kRounder, without the bias.
constexpr double kToWhole = 0x1.8p52;
constexpr std::uint64_t kMantissaBits = 52;

// Beyond these bounds the f32 results are 0, 1 or infinity for any argument. Within them nothing overflows in f64.
constexpr double kExpLeast = -105, kExpMost = 89;
constexpr double kSigmoidMost = 105;
constexpr double kTanhMost = 20;
constexpr double kErfMost = 3.925;
constexpr double kGeluMost = 14.5;
constexpr double kGeluTanhMost = 11;
constexpr double kSiluMost = 110;

/// Turns a polynomial of z into twice the polynomial of 4 z, which takes (2r)^2: r coth(r / 2) is one of r^2.
template <std::size_t count>
constexpr std::array<double, count> of_twice(std::array<double, count> coefficients) {
  double factor = 2;
  for (double& c : coefficients) {
    c *= factor;
    factor /= 4;
  }
  return coefficients;
}

}  // namespace

/// Reduces as Cody and Waite did: k times kLn2High is exact, and so is the rest of x after it. For a NaN the rest is a
/// NaN.
ActivationEmitter::Reduced ActivationEmitter::reduce(Value* x) {
  Value* shifted = f_.fma(x, kLog2OfE, kRounder);
  Value* k = f_.sub(shifted, f_.constant(kRounder));
  Value* rest = f_.fma(k, -kLn2Low, f_.fma(k, -kLn2High, x));
  Value* scale = f_.from_bits(f_.builder().CreateShl(f_.bits_of(shifted), kMantissaBits));
  return {rest, scale};
}

/// Multiplies by the power of two instead of adding to the exponent's bits, so that a NaN stays a NaN.
Value* ActivationEmitter::exp(Value* x) {
  const Reduced reduced = reduce(wide(narrow_.at_least(narrow_.at_most(x, kExpMost), kExpLeast)));
  Value* r = reduced.rest;
  Value* less_one = f_.fma(f_.mul(r, r), f_.polynomial(kExponential, r), r);
  return rounded(f_.mul(f_.add(less_one, 1), reduced.scale));
}

/// Computes exp as (c + r) / (c - r), c = r coth(r / 2). That takes half of a polynomial's terms, where a division is
/// needed anyway.
ActivationEmitter::Quotient ActivationEmitter::exponential(const Reduced& x) {
  Value* cotangent = f_.polynomial(kCotangent4, f_.mul(x.rest, x.rest));
  return {f_.mul(f_.add(cotangent, x.rest), x.scale), f_.sub(cotangent, x.rest)};
}

/// Computes exp(x) / (1 + exp(x)).
Value* ActivationEmitter::sigmoid_of_negative(const Reduced& x) {
  const Quotient e = exponential(x);
  return f_.quotient(e.above, f_.add(e.above, e.below));
}

/// Computes tanh(x / 2) = (exp(x) - 1) / (exp(x) + 1), where neither sum cancels. Without a power of two it is r / c.
Value* ActivationEmitter::tanh(Value* x) {
  Value* half = magnitude_at_most(kTanhMost, x);
  const auto [r, scale] = reduce(f_.add(half, half));
  Value* cotangent = f_.polynomial(kCotangent5, f_.mul(r, r));
  Value* less = f_.add(scale, -1);
  Value* more = f_.add(scale, 1);
  Value* above = f_.fma(more, r, f_.mul(less, cotangent));
  Value* below = f_.fma(less, r, f_.mul(more, cotangent));
  return narrow_.with_sign(rounded(f_.quotient(above, below)), x);
}

/// Computes 1 / (1 + exp(-x)). For small x that is 1/2 + x/4 - x^3/48. The first two terms may make a tie of f32,
/// beside which f64 loses the third. Two units in the last place of the smaller side say on which side of the tie the
/// value lies.
Value* ActivationEmitter::sigmoid(Value* x) {
  Value* argument = f_.builder().CreateFNeg(magnitude_at_most(kSigmoidMost, x));
  Value* bits = f_.bits_of(sigmoid_of_negative(reduce(argument)));
  Value* smaller = f_.from_bits(f_.builder().CreateAdd(bits, f_.bits(2)));
  return rounded(f_.builder().CreateSelect(narrow_.is_negative(x), smaller, f_.sub(f_.constant(1), smaller)));
}

/// Multiplies x by an even function: a polynomial of x^2. Its variable is moved to the middle of its interval, where
/// the terms that cancel are small.
Value* ActivationEmitter::erf(Value* x) {
  Value* bounded = wide(narrow_.at_least(narrow_.at_most(x, kErfMost), -kErfMost));
  Value* square = f_.fma(f_.mul(bounded, bounded), kErfScale, -1);
  return rounded(f_.mul(bounded, f_.long_polynomial(kErf, square)));
}

/// Computes max(x, 0) - |x| share, for a share below 1/2: the function of -|x| divided by -|x|. For tiny x the share is
/// closer to 1/2 than f64 can tell. With a share of 1/2 the result x/2 could be a tie of f32.
Value* ActivationEmitter::gate(Value* x, Value* magnitude, Value* share) {
  constexpr double kBelowHalf = 0x1.ffffffffffffep-2;
  Value* lost = f_.mul(magnitude, f_.at_most(share, kBelowHalf));
  return rounded(f_.sub(positive_part(x), lost));
}

/// Computes exp(-w / 2) as `reduce` and `exponential` do, with -2 r = w + 2 k ln 2. Adds the power of two to the
/// exponent's bits of a number above 0; NaNs need no care.
ActivationEmitter::Quotient ActivationEmitter::exponential_of_half(Value* w) {
  Value* shifted = f_.fma(w, -kLog2OfE / 2, kToWhole);
  Value* k = f_.sub(shifted, f_.constant(kToWhole));
  Value* twice = f_.has_fma() ? f_.fma(k, 2 * kLn2, w) : f_.fma(k, 2 * kLn2Low, f_.fma(k, 2 * kLn2High, w));
  Value* cotangent = f_.polynomial(of_twice(kCotangent4), f_.mul(twice, twice));
  Value* power = f_.builder().CreateShl(f_.bits_of(shifted), kMantissaBits);
  Value* above = f_.builder().CreateAdd(f_.bits_of(f_.sub(cotangent, twice)), power);
  return {f_.from_bits(above), f_.add(cotangent, twice)};
}

/// Goes on from a polynomial's last part to the whole, by one multiplication for two degrees.
Value* ActivationEmitter::stepped(Value* part, std::span<const QuadraticStep> steps, Value* square) {
  for (std::size_t i = steps.size(); i-- > 0;)
    part = f_.fma(part, f_.add(square, steps[i].shift), f_.constant(steps[i].constant));
  return part;
}

/// Computes `gate` with the share Phi(-a), which is exp(-a^2 / 2) times a smooth function; a^2 is exact. The
/// coefficients are rounded so that the share is below 1/2 by itself.
Value* ActivationEmitter::gelu(Value* x) {
  Value* a = magnitude_at_most(kGeluMost, x);
  Value* square = f_.mul(a, a);
  const Quotient e = exponential_of_half(square);
  Value* above = f_.mul(e.above, stepped(f_.polynomial(kTailAbove, a), kTailAboveSteps, square));
  Value* below = f_.mul(e.below, stepped(f_.polynomial(kTailBelow, a), kTailBelowSteps, square));
  Value* lost_factor = f_.builder().CreateFNeg(f_.quotient(above, below));
  return rounded(f_.fma(a, lost_factor, positive_part(x)));
}

/// Computes x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)); the share uses the negative argument.
Value* ActivationEmitter::gelu_tanh(Value* x) {
  Value* a = magnitude_at_most(kGeluTanhMost, x);
  Value* argument = f_.mul(a, f_.fma(f_.mul(a, a), kGeluCubic, kGeluSlope));
  return gate(x, a, sigmoid_of_negative(reduce(argument)));
}

Value* ActivationEmitter::silu(Value* x) {
  Value* a = magnitude_at_most(kSiluMost, x);
  return gate(x, a, sigmoid_of_negative(reduce(f_.builder().CreateFNeg(a))));
}

/// Computes max(x, 0) + log(1 + e), e = exp(-|x|). The logarithm is 2 artanh(e / (2 + e)).
Value* ActivationEmitter::softplus(Value* x) {
  Value* a = magnitude_at_most(kSiluMost, x);
  const Quotient e = exponential(reduce(f_.builder().CreateFNeg(a)));
  Value* s = f_.quotient(e.above, f_.add(f_.add(e.below, e.below), e.above));
  Value* square = f_.mul(s, s);
  Value* logarithm = f_.fma(f_.mul(s, square), f_.polynomial(kLogarithmOfSum, square), f_.add(s, s));
  return rounded(f_.add(positive_part(x), logarithm));
}

/// Rounds a sum to odd, given what it lacks, which is not 0. The result is the one of the two numbers around the real
/// sum whose last bit is set. Rounding it again gives the same as rounding the real sum.
Value* ActivationEmitter::round_to_odd(Value* sum, Value* lacking) {
  llvm::IRBuilder<>& builder = f_.builder();
  Value* bits = f_.bits_of(sum);
  Value* nearer_to_zero = builder.CreateLShr(builder.CreateXor(bits, f_.bits_of(lacking)), 63);
  return f_.from_bits(builder.CreateOr(builder.CreateSub(bits, nearer_to_zero), f_.bits(1)));
}

/// Computes log(2^k m) = k ln 2 + log(m), sqrt(1/2) <= m < sqrt(2). With s = f / (m + 1) and f = m - 1, which is exact:
/// log(m) = 2 artanh(s) = f - s (f - R(s^2)). (Sun's fdlibm.) For five floats close to a tie the last sum must be
/// rounded to odd.
Value* ActivationEmitter::log(Value* x) {
  constexpr std::uint64_t kLeast = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2)
  constexpr std::uint64_t kBias = 1023;
  llvm::IRBuilder<>& builder = f_.builder();
  Value* moved = builder.CreateAdd(f_.bits_of(wide(x)), f_.bits((kBias << kMantissaBits) - kLeast));
  Value* exponent = builder.CreateOr(builder.CreateLShr(moved, kMantissaBits), f_.bits(0x4330000000000000));
  Value* k = f_.add(f_.from_bits(exponent), -(0x1p52 + kBias));
  Value* mantissa = builder.CreateAnd(moved, f_.bits((std::uint64_t{1} << kMantissaBits) - 1));
  Value* m = f_.from_bits(builder.CreateAdd(mantissa, f_.bits(kLeast)));
  Value* f = f_.add(m, -1);
  Value* s = f_.quotient(f, f_.add(m, 1));
  Value* square = f_.mul(s, s);
  Value* rest = f_.mul(square, f_.polynomial(kLogarithm, square));
  Value* of_m = f_.sub(f, f_.mul(s, f_.sub(f, rest)));
  Value* high = f_.mul(k, kLn2High);
  Value* low = f_.fma(k, kLn2Low, of_m);
  Value* sum = f_.add(high, low);
  return narrow_.with_ends_of_log(x, rounded(round_to_odd(sum, f_.sub(low, f_.sub(sum, high)))));
}

Value* ActivationEmitter::emit(ir::Op op, Value* x) {
  llvm::IRBuilder<>& builder = f_.builder();
  return builder.CreateFPTrunc(of_argument(op, builder.CreateFPExt(x, narrow_.type())), x->getType());
}

Value* ActivationEmitter::of_argument(ir::Op op, Value* x) {
  switch (op) {
    case ir::Op::exp:
      return exp(x);
    case ir::Op::log:
      return log(x);
    case ir::Op::tanh:
      return tanh(x);
    case ir::Op::sigmoid:
      return sigmoid(x);
    case ir::Op::erf:
      return erf(x);
    case ir::Op::gelu:
      return gelu(x);
    case ir::Op::gelu_tanh:
      return gelu_tanh(x);
    case ir::Op::silu:
      return silu(x);
    case ir::Op::softplus:
      return softplus(x);
    default:
      return rounded(f_.near_rsqrt(wide(x), /*kept=*/true));
  }
}

}  // namespace padlock::compiler
