#include "compiler/emit/scalar/activation/pair_activation.h"

#include <array>

#include "compiler/emit/scalar/activation/coefficients.h"

namespace padlock::compiler {

using llvm::Value;

namespace {

/// Adding this leaves the nearest whole number, and f32's exponent bias, in a sum's last places.
constexpr double kPairRounder = 0x1.8p23 + 127;
/// The f32 nearest to ln 2, less ln 2.
constexpr double kExcessOfLn2 = 0x1.05c610p-29;
/// (exp(r) - 1 - r - r^2 / 2 - r^3 / 6) / r^4 for |r| <= ln 2 / 2.
constexpr std::array kQuartic = {0x1.555556p-5, 0x1.1110f6p-7, 0x1.6c169ap-10, 0x1.a0f8d6p-13, 0x1.a0efe8p-16};
/// 1 / 6 in two parts.
constexpr double kSixth = 0x1.555556p-3, kRestOfSixth = -0x1.555556p-28;
/// A bound above the exponential's error.
constexpr double kPairError = 0x1p-33;
// Beyond these bounds a power of two, or a low part, is not a normal number.
constexpr double kMostOfExp = 87, kMostOfLogistic = 70, kLeastOfSilu = 0x1p-60;

}  // namespace

PairActivation::Pair PairActivation::plus(double larger, Pair smaller) {
  Value* high = f_.add(smaller.high, larger);
  Value* lost = f_.sub(smaller.high, f_.add(high, -larger));
  return {high, f_.add(lost, smaller.low)};
}

PairActivation::Pair PairActivation::times(Value* factor, Pair pair) {
  Value* high = f_.mul(factor, pair.high);
  Value* rest = f_.fma(factor, pair.high, f_.builder().CreateFNeg(high));
  return {high, f_.fma(factor, pair.low, rest)};
}

/// Computes 2^k (1 + r (1 + r (1/2 + r (1/6 + r Q)))), whose inner sums are pairs. r is exact but for the f32 excess of
/// ln 2.
PairActivation::Exponential PairActivation::exponential(Value* x) {
  Value* shifted = f_.fma(x, activation::kLog2OfE, kPairRounder);
  Value* k = f_.add(shifted, -kPairRounder);
  Value* r = f_.fma(k, -activation::kLn2, x);
  Value* excess = f_.mul(k, kExcessOfLn2);
  const Pair sixth = plus(kSixth, {f_.mul(r, f_.polynomial(kQuartic, r)), f_.constant(kRestOfSixth)});
  Pair less_one = times(r, plus(1, times(r, plus(0.5, times(r, sixth)))));
  less_one.low = f_.add(less_one.low, f_.fma(excess, less_one.high, excess));
  return {plus(1, less_one), shifted};
}

std::pair<Value*, Value*> PairActivation::exp(Value* x) {
  llvm::IRBuilder<>& builder = f_.builder();
  const auto [pair, shifted] = exponential(x);
  Value* least = f_.add(pair.high, f_.add(pair.low, -kPairError));
  Value* most = f_.add(pair.high, f_.add(pair.low, kPairError));
  Value* power = f_.from_bits(builder.CreateShl(f_.bits_of(shifted), 23));
  Value* is_far = builder.CreateFCmpUGE(f_.magnitude(x), f_.constant(kMostOfExp));
  return {f_.mul(least, power), builder.CreateOr(builder.CreateFCmpUNE(least, most), is_far)};
}

/// Divides exp(-|x|), or 1 if x is positive, by 1 + exp(-|x|): the quotient of the high parts, and its remainder.
std::pair<Value*, Value*> PairActivation::logistic(Value* x, bool times_x) {
  llvm::IRBuilder<>& builder = f_.builder();
  const auto negated = [&](Value* v) { return builder.CreateFNeg(v); };
  Value* magnitude = f_.magnitude(x);
  const auto [pair, shifted] = exponential(negated(magnitude));
  Value* power = f_.from_bits(builder.CreateShl(f_.bits_of(shifted), 23));
  const Pair e = {f_.mul(pair.high, power), f_.mul(pair.low, power)};
  const Pair divisor = plus(1, e);
  Value* reciprocal = f_.near_quotient(1, divisor.high);
  Value* above = f_.if_negative(x, e.high, f_.constant(1));
  Value* high = f_.mul(above, reciprocal);
  Value* left = f_.fma(negated(high), divisor.low, f_.fma(negated(high), divisor.high, above));
  Value* low = f_.mul(f_.add(left, f_.if_negative(x, e.low, f_.constant(0))), reciprocal);
  Value* is_far = builder.CreateFCmpUGE(magnitude, f_.constant(kMostOfLogistic));
  if (times_x) {
    const Pair product = times(x, {high, low});
    high = product.high;
    low = product.low;
    is_far = builder.CreateOr(is_far, builder.CreateFCmpULE(magnitude, f_.constant(kLeastOfSilu)));
  }
  Value* least = f_.add(high, f_.fma(high, -2 * kPairError, low));
  Value* most = f_.add(high, f_.fma(high, 2 * kPairError, low));
  return {least, builder.CreateOr(builder.CreateFCmpUNE(least, most), is_far)};
}

std::pair<Value*, Value*> PairActivation::emit(ir::Op op, Value* x) {
  return op == ir::Op::exp ? exp(x) : logistic(x, op == ir::Op::silu);
}

}  // namespace padlock::compiler
