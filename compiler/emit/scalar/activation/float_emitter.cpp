#include "compiler/emit/scalar/activation/float_emitter.h"

#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/bit.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace padlock::compiler {

namespace intrinsic = llvm::Intrinsic;
using llvm::Value;

namespace {

/// Returns the bytes of registers whose constants are operands in memory; 0 if no registers have such, or for a GPU's
/// twin.
unsigned register_bytes(const TargetFeatures& target) {
  return target.packs_words ? 0 : static_cast<unsigned>(target.operand_bytes);
}

/// PTX's constant memory: instructions take operands from it.
constexpr unsigned kConstantSpace = 4;

}  // namespace

FloatEmitter::FloatEmitter(llvm::IRBuilder<>& builder, llvm::Type* type, const TargetFeatures& target, bool folds)
    : builder_(builder),
      type_(type),
      bits_type_(type->getWithNewType(builder.getIntNTy(type->getScalarSizeInBits()))),
      target_(target),
      folds_(folds),
      register_lanes_(register_bytes(target) * 8 / type->getScalarSizeInBits()) {}

/// Returns LLVM's constant. For vectors of whole registers, returns a loaded one: LLVM would broadcast its own by an
/// instruction before each multiplication and addition of a polynomial. AVX2 has no arithmetic that broadcasts by
/// itself. With AVX-512 LLVM broadcasts once for two registers, and `gelu` takes a tenth longer on a Zen 4. A GPU's f64
/// constant of 32 bits and zeros is an operand. Others cost two instructions in each place, so they are loaded, too:
/// ptxas loads them from the constant bank in one, and before a loop.
Value* FloatEmitter::constant(double value) const {
  if (value == 0) return llvm::ConstantFP::get(type_, value);
  const bool has_low_word = static_cast<std::uint32_t>(llvm::bit_cast<std::uint64_t>(value)) != 0;
  if (target_.takes_words && !folds_ && type_->isDoubleTy() && has_low_word) return loaded_constant(value);
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  if (register_lanes_ == 0 || type == nullptr || type->getNumElements() < register_lanes_)
    return llvm::ConstantFP::get(type_, value);
  Value* loaded = loaded_constant(value);
  if (type->getNumElements() == register_lanes_) return loaded;
  llvm::SmallVector<int> lanes;
  for (unsigned i = 0; i < type->getNumElements(); ++i) lanes.push_back(static_cast<int>(i % register_lanes_));
  return builder_.CreateShuffleVector(loaded, lanes);
}

/// Loads a register's lanes, or a GPU's constant, from a place whose value LLVM does not know. A GPU's kernels may be
/// modules of one text, so each kernel has its own name for the place.
Value* FloatEmitter::loaded_constant(double value) const {
  llvm::Function& function = *builder_.GetInsertBlock()->getParent();
  llvm::Module& module = *function.getParent();
  llvm::Type* element = type_->getScalarType();
  llvm::Type* type = target_.takes_words ? element : llvm::FixedVectorType::get(element, register_lanes_);
  const std::string name = (target_.takes_words ? function.getName().str() : "") + "_constant_" +
                           (element->isDoubleTy() ? "f64_" : "f32_") +
                           llvm::utohexstr(llvm::bit_cast<std::uint64_t>(value));
  const llvm::Align align(type->getPrimitiveSizeInBits().getFixedValue() / 8);
  llvm::GlobalVariable* place = module.getNamedGlobal(name);
  if (place == nullptr) {
    place = new llvm::GlobalVariable(module, type, /*isConstant=*/true, llvm::GlobalValue::InternalLinkage,
                                     llvm::ConstantFP::get(type, value), name, /*InsertBefore=*/nullptr,
                                     llvm::GlobalValue::NotThreadLocal, target_.takes_words ? kConstantSpace : 0,
                                     /*isExternallyInitialized=*/true);
    place->setAlignment(align);
  }
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  if (target_.takes_words)
    builder_.SetInsertPoint(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
  llvm::LoadInst* load = builder_.CreateAlignedLoad(type, place, align);
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder_.getContext(), {}));
  return load;
}
Value* FloatEmitter::bits(std::uint64_t value) const { return llvm::ConstantInt::get(bits_type_, value); }
Value* FloatEmitter::sign_bit() const { return bits(std::uint64_t{1} << (bits_type_->getScalarSizeInBits() - 1)); }

/// Refines PTX's reciprocal of about 20 bits ("PTX ISA", rcp.approx.ftz.f64) by two steps, to an error of its sixth
/// power. Then corrects the quotient by its remainder (Markstein: the result is rounded to nearest).
Value* FloatEmitter::quotient(Value* a, Value* b) {
  if (!target_.packs_words || !has_fma() || folds_) return div(a, b);
  Value* one = constant(1);
  Value* seed = target_.takes_words ? builder_.CreateIntrinsic(intrinsic::nvvm_rcp_approx_ftz_d, {}, {b})
                                    : div(one, b);  // the host's twin of a GPU
  Value* negative = builder_.CreateFNeg(b);
  Value* rest = fma(negative, seed, one);
  Value* near = fma(fma(rest, rest, rest), seed, seed);
  Value* reciprocal = fma(fma(negative, near, one), near, near);
  Value* result = mul(a, reciprocal);
  return fma(fma(negative, result, a), reciprocal, result);
}

Value* FloatEmitter::sqrt(Value* x) { return builder_.CreateUnaryIntrinsic(intrinsic::sqrt, x); }
Value* FloatEmitter::magnitude(Value* x) { return builder_.CreateUnaryIntrinsic(intrinsic::fabs, x); }
Value* FloatEmitter::with_sign(Value* x, Value* sign) {
  return from_bits(builder_.CreateXor(bits_of(x), builder_.CreateAnd(bits_of(sign), sign_bit())));
}

Value* FloatEmitter::fma(Value* a, Value* b, Value* c) {
  if (!has_fma()) return add(mul(a, b), c);
  return builder_.CreateIntrinsic(intrinsic::fma, {type_}, {a, b, c});
}

Value* FloatEmitter::near_quotient(double a, Value* b) {
  const bool refines = target_.packs_words && has_fma();
  if (!refines) return div(constant(a), b);
  Value* one = llvm::ConstantFP::get(type_, 1);
  Value* reciprocal = target_.takes_words ? builder_.CreateIntrinsic(intrinsic::nvvm_rcp_approx_ftz_f, {}, {b})
                                          : div(one, b);  // the host's twin of a GPU
  Value* quotient = a == 1 ? reciprocal : mul(reciprocal, a);
  return fma(fma(builder_.CreateFNeg(b), quotient, constant(a)), reciprocal, quotient);
}

/// Returns an approximation: of f32 to 1.5 * 2^-12 or better, of f64 to 2^-15. Returns null if there is none.
Value* FloatEmitter::rsqrt_seed(Value* x, bool kept) {
  if (type_->getScalarType()->isDoubleTy()) {
    if (!target_.packs_words || !has_fma() || folds_) return nullptr;
    return target_.takes_words ? builder_.CreateIntrinsic(intrinsic::nvvm_rsqrt_approx_ftz_d, {}, {x})
                               : div(constant(1), sqrt(x));  // the host's twin of a GPU
  }
  if (target_.takes_words) return builder_.CreateIntrinsic(intrinsic::nvvm_rsqrt_approx_f, {}, {x});
  const bool wide = target_.mask_registers;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(type_);
  if (register_lanes_ == 0 || type == nullptr || type->getNumElements() % register_lanes_ != 0) return nullptr;
  if (kept && !wide) return nullptr;  // rsqrtps takes subnormals for 0
  llvm::SmallVector<Value*> parts;
  for (unsigned first = 0; first < type->getNumElements(); first += register_lanes_) {
    llvm::SmallVector<int> lanes(register_lanes_);
    std::iota(lanes.begin(), lanes.end(), static_cast<int>(first));
    Value* part = builder_.CreateShuffleVector(x, lanes);
    Value* other = llvm::Constant::getNullValue(part->getType());
    parts.push_back(wide ? builder_.CreateIntrinsic(intrinsic::x86_avx512_rsqrt14_ps_512, {},
                                                    {part, other, builder_.getInt16(0xffff)})
                         : builder_.CreateIntrinsic(intrinsic::x86_avx_rsqrt_ps_256, {}, {part}));
  }
  return llvm::concatenateVectors(builder_, parts);
}

/// Makes one step of Newton's from a seed, for f64 two. If a step gives a NaN, x is 0 or infinity, or the seed is a
/// NaN: the seed is the result.
Value* FloatEmitter::near_rsqrt(Value* x, bool kept) {
  Value* seed = rsqrt_seed(x, kept);
  if (seed == nullptr) return div(constant(1), sqrt(x));
  Value* stepped = seed;
  for (int step = 0; step < (type_->isDoubleTy() ? 2 : 1); ++step) {
    Value* rest = fma(builder_.CreateFNeg(mul(x, stepped)), stepped, constant(1));
    stepped = fma(mul(stepped, 0.5), rest, stepped);
  }
  return builder_.CreateSelect(builder_.CreateFCmpUNO(stepped, stepped), seed, stepped);
}

Value* FloatEmitter::at_most(Value* x, double bound) {
  if (target_.bounds_nans && !type_->isDoubleTy())
    return builder_.CreateBinaryIntrinsic(intrinsic::minimum, x, constant(bound));
  return builder_.CreateSelect(builder_.CreateFCmpOLT(constant(bound), x), constant(bound), x);
}
Value* FloatEmitter::at_least(Value* x, double bound) {
  if (target_.bounds_nans && !type_->isDoubleTy())
    return builder_.CreateBinaryIntrinsic(intrinsic::maximum, x, constant(bound));
  return builder_.CreateSelect(builder_.CreateFCmpOGT(constant(bound), x), constant(bound), x);
}
/// Works on integers: the bits of a number with a sign are above those of -0.
Value* FloatEmitter::positive_part(Value* x) {
  return from_bits(builder_.CreateBinaryIntrinsic(intrinsic::umin, bits_of(x), sign_bit()));
}
Value* FloatEmitter::if_negative(Value* x, Value* below, Value* other) {
  return builder_.CreateSelect(is_negative(x), below, other);
}

Value* FloatEmitter::with_ends_of_log(Value* x, Value* result) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Value* other = if_negative(x, constant(std::numeric_limits<double>::quiet_NaN()), x);
  other = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, constant(0)), constant(-kInfinity), other);
  Value* above_zero = builder_.CreateFCmpOGT(x, constant(0));
  Value* usual = builder_.CreateAnd(above_zero, builder_.CreateFCmpOLT(x, constant(kInfinity)));
  return builder_.CreateSelect(usual, result, other);
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
