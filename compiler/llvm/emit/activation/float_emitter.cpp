#include "compiler/llvm/emit/activation/float_emitter.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

namespace padlock::compiler {

namespace intrinsic = llvm::Intrinsic;
using llvm::Value;

Value* FloatEmitter::constant(double value) const { return llvm::ConstantFP::get(type_, value); }
Value* FloatEmitter::bits(std::uint64_t value) const {
  return llvm::ConstantInt::get(type_->getWithNewType(builder_.getInt64Ty()), value);
}
Value* FloatEmitter::bits_of(Value* x) {
  return builder_.CreateBitCast(x, type_->getWithNewType(builder_.getInt64Ty()));
}

Value* FloatEmitter::sqrt(Value* x) { return builder_.CreateUnaryIntrinsic(intrinsic::sqrt, x); }
Value* FloatEmitter::magnitude(Value* x) { return builder_.CreateUnaryIntrinsic(intrinsic::fabs, x); }
Value* FloatEmitter::with_sign(Value* x, Value* sign) {
  return builder_.CreateBinaryIntrinsic(intrinsic::copysign, x, sign);
}

Value* FloatEmitter::fma(Value* a, Value* b, Value* c) {
  if (!has_fma_) return add(mul(a, b), c);
  return builder_.CreateIntrinsic(intrinsic::fma, {type_}, {a, b, c});
}

Value* FloatEmitter::at_most(Value* x, double bound) {
  return builder_.CreateSelect(builder_.CreateFCmpOLT(constant(bound), x), constant(bound), x);
}
Value* FloatEmitter::at_least(Value* x, double bound) {
  return builder_.CreateSelect(builder_.CreateFCmpOGT(constant(bound), x), constant(bound), x);
}
Value* FloatEmitter::if_negative(Value* x, Value* below, Value* other) {
  return builder_.CreateSelect(is_negative(x), below, other);
}

Value* FloatEmitter::polynomial(std::span<const double> coefficients, Value* x) {
  Value* result = constant(coefficients.back());
  for (std::size_t i = coefficients.size() - 1; i-- > 0;) result = fma(result, x, constant(coefficients[i]));
  return result;
}

Value* FloatEmitter::long_polynomial(std::span<const double> coefficients, Value* x) {
  std::vector<double> even, odd;
  for (std::size_t i = 0; i < coefficients.size(); ++i) (i % 2 == 0 ? even : odd).push_back(coefficients[i]);
  Value* square = mul(x, x);
  Value* rest = polynomial(odd, square);
  return fma(rest, x, polynomial(even, square));
}

/// Splits as Veltkamp did: the upper 26 bits and the lower 27, so that products of halves are exact.
std::pair<Value*, Value*> FloatEmitter::halves(Value* x) {
  Value* shifted = mul(x, 0x1p27 + 1);
  Value* high = sub(shifted, sub(shifted, x));
  return {high, sub(x, high)};
}

/// Multiplies as Dekker did, where there is no fma.
std::pair<Value*, Value*> FloatEmitter::exact_product(Value* a, Value* b) {
  Value* product = mul(a, b);
  if (has_fma_) return {product, fma(a, b, builder_.CreateFNeg(product))};
  const auto [a_high, a_low] = halves(a);
  const auto [b_high, b_low] = halves(b);
  Value* rest = add(sub(mul(a_high, b_high), product), mul(a_high, b_low));
  return {product, add(add(rest, mul(a_low, b_high)), mul(a_low, b_low))};
}

/// Adds as Knuth did, any two numbers.
std::pair<Value*, Value*> FloatEmitter::exact_sum(Value* a, Value* b) {
  Value* sum = add(a, b);
  Value* other = sub(sum, a);
  return {sum, add(sub(a, sub(sum, other)), sub(b, other))};
}

}  // namespace padlock::compiler
