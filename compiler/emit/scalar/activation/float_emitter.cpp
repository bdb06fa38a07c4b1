#include "compiler/emit/scalar/activation/float_emitter.h"

#include <cstdint>
#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/bit.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

namespace padlock::compiler {

namespace intrinsic = llvm::Intrinsic;
using llvm::Value;

/// Returns a constant of LLVM's or, for vectors of whole registers, one that is loaded: LLVM would broadcast its own
/// constants in an instruction before each multiplication and addition of a polynomial. AVX2 has no arithmetic that
/// does so itself; with AVX-512 LLVM broadcasts once for two registers, and `gelu` takes a tenth longer on a Zen 4.
Value* FloatEmitter::constant(double value) const {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  if (register_lanes_ == 0 || value == 0 || type == nullptr || type->getNumElements() < register_lanes_)
    return llvm::ConstantFP::get(type_, value);
  Value* loaded = loaded_constant(value);
  if (type->getNumElements() == register_lanes_) return loaded;
  llvm::SmallVector<int> lanes;
  for (unsigned i = 0; i < type->getNumElements(); ++i) lanes.push_back(static_cast<int>(i % register_lanes_));
  return builder_.CreateShuffleVector(loaded, lanes);
}

/// Loads a register's lanes from a place that LLVM does not know the value of.
Value* FloatEmitter::loaded_constant(double value) const {
  auto* type = llvm::FixedVectorType::get(builder_.getDoubleTy(), register_lanes_);
  const llvm::Align align(register_lanes_ * sizeof(double));
  llvm::Module& module = *builder_.GetInsertBlock()->getModule();
  const std::string name = "constant." + llvm::utohexstr(llvm::bit_cast<std::uint64_t>(value));
  llvm::GlobalVariable* place = module.getNamedGlobal(name);
  if (place == nullptr) {
    place = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                     llvm::ConstantFP::get(type, value), name, /*InsertBefore=*/nullptr,
                                     llvm::GlobalValue::NotThreadLocal, /*AddressSpace=*/0,
                                     /*isExternallyInitialized=*/true);
    place->setAlignment(align);
  }
  llvm::LoadInst* load = builder_.CreateAlignedLoad(type, place, align);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder_.getContext(), {}));
  return load;
}
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
  std::size_t i = coefficients.size() - 1;
  const bool is_monic = i > 0 && coefficients[i] == 1;
  Value* result = is_monic ? add(x, coefficients[--i]) : constant(coefficients[i]);
  while (i-- > 0) result = fma(result, x, constant(coefficients[i]));
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
