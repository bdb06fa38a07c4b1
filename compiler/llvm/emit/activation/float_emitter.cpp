#include "compiler/llvm/emit/activation/float_emitter.h"

#include <vector>

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
  return from_bits(builder_.CreateXor(bits_of(x), builder_.CreateAnd(bits_of(sign), bits(std::uint64_t{1} << 63))));
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

}  // namespace padlock::compiler
