#include "compiler/emit/scalar/emit_ops.h"

#include <numeric>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/MDBuilder.h>

#include "compiler/emit/scalar/activation/activation_emitter.h"
#include "compiler/emit/scalar/activation/half_activation_emitter.h"
#include "compiler/emit/scalar/activation/pair_activation.h"
#include "compiler/emit/scalar/activation/table_exponential.h"
#include "compiler/emit/scalar/emit_loop.h"
#include "ir/reference/numeric.h"

namespace padlock::compiler {

using ir::DType;
using ir::Op;
using llvm::Intrinsic::ID;
namespace intrinsic = llvm::Intrinsic;

namespace {

std::uint64_t sign_bit(DType dtype) { return std::uint64_t{1} << (ir::bit_width(dtype) - 1); }

std::uint64_t infinity_bits(DType dtype) { return ir::format_of(dtype).infinity(); }

}  // namespace

llvm::Type* OpEmitter::vector_of(llvm::Type* element) const {
  return lanes_ == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes_));
}
llvm::Type* OpEmitter::integer(int width) const { return vector_of(builder_.getIntNTy(static_cast<unsigned>(width))); }
llvm::Type* OpEmitter::float_type(DType dtype) const {
  return vector_of(dtype == DType::f64 ? builder_.getDoubleTy() : builder_.getFloatTy());
}
llvm::Value* OpEmitter::constant(int width, std::uint64_t value) const {
  return llvm::ConstantInt::get(integer(width), value, /*IsSigned=*/false, /*ImplicitTrunc=*/true);
}
llvm::Value* OpEmitter::bits(DType dtype, std::uint64_t value) const { return constant(ir::bit_width(dtype), value); }

llvm::Value* OpEmitter::truth(Value* boolean) { return builder_.CreateICmpNE(boolean, constant(8, 0)); }
llvm::Value* OpEmitter::byte(Value* truth) { return builder_.CreateZExt(truth, integer(8)); }

llvm::Value* OpEmitter::to_float(DType dtype, Value* v) {
  switch (dtype) {
    case DType::f16:
      return f16_to_f32(v);
    case DType::bf16:
      return builder_.CreateBitCast(builder_.CreateShl(builder_.CreateZExt(v, integer(32)), constant(32, 16)),
                                    float_type(DType::f32));
    default:
      return builder_.CreateBitCast(v, float_type(dtype));
  }
}

llvm::Value* OpEmitter::from_float(DType dtype, Value* v) {
  switch (dtype) {
    case DType::f16:
      return f32_to_f16(v);
    case DType::bf16:
      return f32_to_bf16(v);
    default:
      return builder_.CreateBitCast(v, storage_type(dtype));
  }
}

llvm::Value* OpEmitter::to_sum(DType dtype, Value* v) { return ir::is_float(dtype) ? to_float(dtype, v) : v; }
llvm::Value* OpEmitter::add_to_sum(DType dtype, Value* sum, Value* v) {
  return ir::is_float(dtype) ? builder_.CreateFAdd(sum, to_float(dtype, v)) : builder_.CreateAdd(sum, v);
}
llvm::Value* OpEmitter::from_sum(DType dtype, Value* sum) { return ir::is_float(dtype) ? from_float(dtype, sum) : sum; }

/// Without hardware. A normal number's exponent grows by 127 - 15; that of infinities and NaNs by twice as much. A
/// denormal is an integer times 2^-24, exact in f32.
llvm::Value* OpEmitter::f16_to_f32(Value* v) {
  llvm::Type* f32 = float_type(DType::f32);
  if (target_.f16c) return builder_.CreateFPExt(builder_.CreateBitCast(v, vector_of(builder_.getHalfTy())), f32);
  Value* wide = builder_.CreateZExt(v, integer(32));
  Value* sign = builder_.CreateShl(builder_.CreateAnd(wide, constant(32, 0x8000)), constant(32, 16));
  Value* magnitude = builder_.CreateAnd(wide, constant(32, 0x7fff));
  Value* rebias = constant(32, 112U << 23);
  Value* normal = builder_.CreateAdd(builder_.CreateShl(magnitude, constant(32, 13)), rebias);
  Value* special = builder_.CreateAdd(normal, rebias);
  Value* tiny = builder_.CreateFMul(builder_.CreateUIToFP(magnitude, f32), llvm::ConstantFP::get(f32, 0x1p-24));
  Value* result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, constant(32, 0x7c00)), special, normal);
  result = builder_.CreateSelect(builder_.CreateICmpULT(magnitude, constant(32, 0x400)),
                                 builder_.CreateBitCast(tiny, integer(32)), result);
  return builder_.CreateBitCast(builder_.CreateOr(result, sign), f32);
}

/// Without hardware. Below 2^-14, adding 0.5, whose last place is f16's smallest denormal, rounds as f16 does. Above,
/// adds half of the dropped part less one, plus the last kept bit: that rounds to nearest even.
llvm::Value* OpEmitter::f32_to_f16(Value* v) {
  if (target_.f16c)
    return builder_.CreateBitCast(builder_.CreateFPTrunc(v, vector_of(builder_.getHalfTy())), integer(16));
  llvm::Type* f32 = float_type(DType::f32);
  Value* raw = builder_.CreateBitCast(v, integer(32));
  Value* magnitude = builder_.CreateAnd(raw, constant(32, 0x7fffffff));
  Value* sign = builder_.CreateAnd(builder_.CreateLShr(raw, constant(32, 16)), constant(32, 0x8000));
  Value* half = llvm::ConstantFP::get(f32, 0.5);
  Value* tiny = builder_.CreateSub(
      builder_.CreateBitCast(builder_.CreateFAdd(builder_.CreateBitCast(magnitude, f32), half), integer(32)),
      constant(32, 0x3f000000));
  Value* last = builder_.CreateAnd(builder_.CreateLShr(magnitude, constant(32, 13)), constant(32, 1));
  Value* rounded = builder_.CreateAdd(builder_.CreateAdd(magnitude, constant(32, 0xfff)), last);
  Value* normal = builder_.CreateLShr(builder_.CreateSub(rounded, constant(32, 112U << 23)), constant(32, 13));
  Value* special = builder_.CreateSelect(builder_.CreateICmpUGT(magnitude, constant(32, 0x7f800000)),
                                         constant(32, 0x7e00), constant(32, 0x7c00));
  Value* result = builder_.CreateSelect(builder_.CreateICmpULT(magnitude, constant(32, 0x38800000)), tiny, normal);
  result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, constant(32, 0x47800000)), special, result);
  return builder_.CreateTrunc(builder_.CreateOr(result, sign), integer(16));
}

/// Uses integer arithmetic on every target. LLVM's own conversion flushes denormals where the CPU has AVX512_BF16, and
/// calls a library elsewhere.
llvm::Value* OpEmitter::f32_to_bf16(Value* v) {
  Value* raw = builder_.CreateBitCast(v, integer(32));
  if (target_.tests_floats) {
    Value* either = builder_.CreateSelect(builder_.CreateFCmpUNO(v, v), builder_.CreateOr(raw, constant(32, 0x400000)),
                                          number_to_bf16(raw));
    return builder_.CreateTrunc(first_half(either), integer(16));
  }
  Value* magnitude = builder_.CreateAnd(raw, constant(32, 0x7fffffff));
  Value* nan = builder_.CreateICmpUGT(magnitude, constant(32, 0x7f800000));
  Value* quiet = builder_.CreateOr(builder_.CreateLShr(raw, constant(32, 16)), constant(32, 0x40));
  return builder_.CreateTrunc(builder_.CreateSelect(nan, quiet, first_half(number_to_bf16(raw))), integer(16));
}

/// Rounds a number, or a NaN whose last 16 bits are 0. Returns 32 bits, of which the result is the first half.
llvm::Value* OpEmitter::number_to_bf16(Value* raw) {
  Value* last = builder_.CreateAnd(builder_.CreateLShr(raw, constant(32, 16)), constant(32, 1));
  return builder_.CreateAdd(builder_.CreateAdd(raw, constant(32, 0x7fff)), last);
}
llvm::Value* OpEmitter::first_half(Value* raw) { return builder_.CreateLShr(raw, constant(32, 16)); }

/// Rounds to odd: toward zero, then sets the last bit if anything was lost. A second rounding to a type of at most 22
/// bits is then the same as from the source.
llvm::Value* OpEmitter::f64_to_f32_odd(Value* v) {
  Value* nearest = builder_.CreateFPTrunc(v, float_type(DType::f32));
  Value* back = builder_.CreateFPExt(nearest, float_type(DType::f64));
  Value* exact = builder_.CreateFCmpUEQ(back, v);
  const auto magnitude = [&](Value* x) {
    return builder_.CreateAnd(builder_.CreateBitCast(x, integer(64)), constant(64, ~sign_bit(DType::f64)));
  };
  Value* above = builder_.CreateICmpUGT(magnitude(back), magnitude(v));
  Value* raw = builder_.CreateBitCast(nearest, integer(32));
  Value* truncated = builder_.CreateSub(raw, builder_.CreateZExt(above, integer(32)));
  Value* odd = builder_.CreateOr(truncated, constant(32, 1));
  return builder_.CreateBitCast(builder_.CreateSelect(exact, raw, odd), float_type(DType::f32));
}

llvm::Value* OpEmitter::less(DType dtype, Value* a, Value* b) {
  if (ir::is_float(dtype)) return builder_.CreateFCmpOLT(to_float(dtype, a), to_float(dtype, b));
  return ir::is_signed(dtype) ? builder_.CreateICmpSLT(a, b) : builder_.CreateICmpULT(a, b);
}

llvm::Value* OpEmitter::compare(Op op, DType dtype, Value* a, Value* b) {
  if (dtype == DType::boolean) {
    a = byte(truth(a));
    b = byte(truth(b));
  }
  switch (op) {
    case Op::lt:
      return byte(less(dtype, a, b));
    case Op::gt:
      return byte(less(dtype, b, a));
    case Op::le:
    case Op::ge: {
      if (op == Op::ge) std::swap(a, b);
      if (ir::is_float(dtype)) return byte(builder_.CreateFCmpOLE(to_float(dtype, a), to_float(dtype, b)));
      return byte(ir::is_signed(dtype) ? builder_.CreateICmpSLE(a, b) : builder_.CreateICmpULE(a, b));
    }
    default: {
      const bool equal = op == Op::eq;
      if (!ir::is_float(dtype)) return byte(equal ? builder_.CreateICmpEQ(a, b) : builder_.CreateICmpNE(a, b));
      Value* x = to_float(dtype, a);
      Value* y = to_float(dtype, b);
      return byte(equal ? builder_.CreateFCmpOEQ(x, y) : builder_.CreateFCmpUNE(x, y));
    }
  }
}

/// x < 0 ? +0 : x, by default on integers: floats below zero have the bits above -0.0, up to and including -infinity.
llvm::Value* OpEmitter::relu(DType dtype, Value* x) {
  const int width = ir::bit_width(dtype);
  if (!ir::is_float(dtype))
    return ir::is_signed(dtype) ? builder_.CreateBinaryIntrinsic(intrinsic::smax, x, constant(width, 0)) : x;
  if (target_.tests_floats && (dtype == DType::f32 || dtype == DType::f64))
    return builder_.CreateSelect(less(dtype, x, bits(dtype, 0)), constant(width, 0), x);
  Value* below = builder_.CreateICmpULE(builder_.CreateSub(x, constant(width, sign_bit(dtype) + 1)),
                                        constant(width, infinity_bits(dtype) - 1));
  return builder_.CreateSelect(below, constant(width, 0), x);
}

llvm::Value* OpEmitter::leaky_relu(DType dtype, Value* x, Value* alpha) {
  Value* scaled = arithmetic(Op::mul, dtype, x, alpha);
  return builder_.CreateSelect(less(dtype, x, bits(dtype, 0)), scaled, x);
}

llvm::Value* OpEmitter::clamp(DType dtype, Value* x, Value* lo, Value* hi) {
  Value* below = builder_.CreateSelect(less_by_bits(dtype, hi, x), hi, x);
  return builder_.CreateSelect(less_by_bits(dtype, x, lo), lo, below);
}

/// a < b, on integers, for a selection that moves one of them. ptxas turns a selection by a float comparison into a
/// minimum, which does not keep a NaN's bits. Negative numbers count down from the key of -0.0, which is that of +0.0.
llvm::Value* OpEmitter::less_by_bits(DType dtype, Value* a, Value* b) {
  if (!ir::is_float(dtype)) return less(dtype, a, b);
  const int width = ir::bit_width(dtype);
  const auto key = [&](Value* x) {
    Value* negative = builder_.CreateICmpSLT(x, constant(width, 0));
    return builder_.CreateSelect(negative, builder_.CreateSub(constant(width, sign_bit(dtype)), x), x);
  };
  const auto number = [&](Value* x) {
    return builder_.CreateICmpULE(builder_.CreateAnd(x, constant(width, sign_bit(dtype) - 1)),
                                  constant(width, infinity_bits(dtype)));
  };
  return builder_.CreateAnd(builder_.CreateICmpSLT(key(a), key(b)), builder_.CreateAnd(number(a), number(b)));
}

llvm::Value* OpEmitter::of_floats(Op op, Value* x, Value* y) {
  switch (op) {
    case Op::add:
      return builder_.CreateFAdd(x, y);
    case Op::sub:
      return builder_.CreateFSub(x, y);
    case Op::mul:
      return builder_.CreateFMul(x, y);
    default:
      return builder_.CreateFDiv(x, y);
  }
}

/// Floats of f16 are rounded twice if f32 computes them, but with more than twice as many digits the first time: that
/// is as one rounding (Figueroa, "When is double rounding innocuous?"). So instructions of f16 have the same results.
llvm::Value* OpEmitter::arithmetic(Op op, DType dtype, Value* a, Value* b) {
  if (!ir::is_float(dtype)) {
    if (op == Op::add) return builder_.CreateAdd(a, b);
    return op == Op::sub ? builder_.CreateSub(a, b) : builder_.CreateMul(a, b);
  }
  if (dtype == DType::f16 && target_.f16_arithmetic && op != Op::div) {
    llvm::Type* halves = vector_of(builder_.getHalfTy());
    Value* made = of_floats(op, builder_.CreateBitCast(a, halves), builder_.CreateBitCast(b, halves));
    return builder_.CreateBitCast(made, integer(16));
  }
  return from_float(dtype, of_floats(op, to_float(dtype, a), to_float(dtype, b)));
}

llvm::Value* OpEmitter::unary(Op op, DType dtype, Value* x) {
  const int width = ir::bit_width(dtype);
  if (ir::is_float(dtype)) {
    if (op == Op::neg) return builder_.CreateXor(x, constant(width, sign_bit(dtype)));
    if (op == Op::abs) return builder_.CreateAnd(x, constant(width, sign_bit(dtype) - 1));
    return from_float(dtype, builder_.CreateUnaryIntrinsic(intrinsic::sqrt, to_float(dtype, x)));
  }
  if (op == Op::neg) return builder_.CreateNeg(x);
  return ir::is_signed(dtype) ? integer_abs(width, x) : x;
}

/// Computes floor, ceil and round, the last with half to even.
llvm::Value* OpEmitter::whole(Op op, DType dtype, Value* x) {
  Value* value = to_float(dtype, x);
  if (!target_.rounds_floats) return from_float(dtype, whole_by_sum(op, value));
  const ID id = op == Op::floor ? intrinsic::floor : op == Op::ceil ? intrinsic::ceil : intrinsic::roundeven;
  return from_float(dtype, builder_.CreateUnaryIntrinsic(id, value));
}

/// Without hardware. A sum with the least number whose last place is 1 rounds to nearest even; results on the wrong
/// side then move by 1. Numbers from that least number on are whole. No result has another sign than the operand.
llvm::Value* OpEmitter::whole_by_sum(Op op, Value* x) {
  llvm::Type* type = x->getType();
  const bool wide = type->getScalarType()->isDoubleTy();
  Value* least_whole = llvm::ConstantFP::get(type, wide ? 0x1p52 : 0x1p23);
  Value* magnitude = builder_.CreateUnaryIntrinsic(intrinsic::fabs, x);
  Value* sum = builder_.CreateFSub(builder_.CreateFAdd(magnitude, least_whole), least_whole);
  Value* result = builder_.CreateBinaryIntrinsic(intrinsic::copysign, sum, x);
  if (op != Op::round) {
    Value* one = llvm::ConstantFP::get(type, op == Op::floor ? -1.0 : 1.0);
    Value* wrong = op == Op::floor ? builder_.CreateFCmpOGT(result, x) : builder_.CreateFCmpOLT(result, x);
    Value* next = builder_.CreateBinaryIntrinsic(intrinsic::copysign, builder_.CreateFAdd(result, one), x);
    result = builder_.CreateSelect(wrong, next, result);
  }
  return builder_.CreateSelect(builder_.CreateFCmpOLT(magnitude, least_whole), result, x);
}

/// On a GPU, computes once a value that all lanes share: for a fill the assembler knows the result.
llvm::Value* OpEmitter::activation(Op op, DType dtype, Value* x) {
  const bool by_element = target_.packs_words && lanes_ > 1;
  if (Value* const same = by_element ? llvm::getSplatValue(x) : nullptr)
    return builder_.CreateVectorSplat(static_cast<unsigned>(lanes_),
                                      OpEmitter(builder_, 1, target_).activation(op, dtype, same));
  const auto by_f64 = [&](Value* v) -> Value* {
    return ActivationEmitter(builder_, v->getType(), target_, llvm::isa<llvm::Constant>(v)).emit(op, v);
  };
  const auto of = [&](Value* v) -> Value* {
    if (dtype != DType::f32) return HalfActivationEmitter(builder_, v->getType(), target_, dtype).emit(op, v);
    if (op == Op::exp && TableExponential::serves(target_, lanes_))
      return unless_in_doubt(v, TableExponential(builder_, v->getType(), target_).emit(v), by_f64);
    if (PairActivation::serves(target_, op))
      return unless_in_doubt(v, PairActivation(builder_, v->getType(), target_).emit(op, v), by_f64);
    return by_f64(v);
  };
  Value* value = to_float(dtype, x);
  if (!by_element) return from_activation(dtype, of(value));
  return from_activation(dtype, dtype == DType::f32 ? two_by_two(value, of) : side_by_side(value, of));
}

/// Takes the likely results. If one of them is in doubt, makes the results in another way.
llvm::Value* OpEmitter::unless_in_doubt(Value* v, std::pair<Value*, Value*> likely,
                                        llvm::function_ref<Value*(Value*)> of) {
  auto [results, doubt] = likely;
  if (doubt->getType()->isVectorTy()) doubt = builder_.CreateOrReduce(doubt);
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* slow = new_block(builder_, "doubt");
  llvm::BasicBlock* after = new_block(builder_, "certain");
  builder_.CreateCondBr(doubt, slow, after, llvm::MDBuilder(builder_.getContext()).createUnlikelyBranchWeights());
  builder_.SetInsertPoint(slow);
  Value* slowly = of(v);
  llvm::BasicBlock* last = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
  llvm::PHINode* chosen = builder_.CreatePHI(v->getType(), 2);
  chosen->addIncoming(results, before);
  chosen->addIncoming(slowly, last);
  return chosen;
}

/// Computes each element by itself.
llvm::Value* OpEmitter::side_by_side(Value* v, llvm::function_ref<Value*(Value*)> of) {
  Value* results = llvm::PoisonValue::get(v->getType());
  for (int lane = 0; lane < lanes_; ++lane) {
    const auto number = static_cast<std::uint64_t>(lane);
    results = builder_.CreateInsertElement(results, of(builder_.CreateExtractElement(v, number)), number);
  }
  return results;
}

/// Computes elements in a loop that rotates the vector; the first two are the next ones. ptxas interleaves these two,
/// which hides their latency in 4 to 15 more registers than one takes. Four would take up to twice as many.
llvm::Value* OpEmitter::two_by_two(Value* v, llvm::function_ref<Value*(Value*)> of) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* inside = new_block(builder_, "element");
  llvm::BasicBlock* after = new_block(builder_, "elements");
  builder_.CreateBr(inside);
  builder_.SetInsertPoint(inside);
  llvm::PHINode* rest = builder_.CreatePHI(v->getType(), 2);
  llvm::PHINode* at = builder_.CreatePHI(builder_.getInt32Ty(), 2);
  constexpr std::uint64_t kTogether = 2;
  llvm::SmallVector<int> places(static_cast<std::size_t>(lanes_));
  std::iota(places.begin(), places.end(), kTogether);
  Value* last = llvm::PoisonValue::get(v->getType());
  for (std::uint64_t lane = 0; lane < kTogether; ++lane)
    last = builder_.CreateInsertElement(last, of(builder_.CreateExtractElement(rest, lane)), lane);
  Value* rotated = builder_.CreateShuffleVector(rest, last, places);
  Value* next = builder_.CreateAdd(at, builder_.getInt32(kTogether));
  llvm::Instruction* back = builder_.CreateCondBr(
      builder_.CreateICmpULT(next, builder_.getInt32(static_cast<std::uint32_t>(lanes_))), inside, after);
  keep_rolled(*back);
  rest->addIncoming(v, before);
  rest->addIncoming(rotated, builder_.GetInsertBlock());
  at->addIncoming(builder_.getInt32(0), before);
  at->addIncoming(next, builder_.GetInsertBlock());
  builder_.SetInsertPoint(after);
  return rotated;
}

/// Rounds a result; a NaN may have any payload. On a CPU a NaN has the payload of the argument, a bf16, or none. A GPU
/// makes its own NaN, and rounds two results to a word.
llvm::Value* OpEmitter::from_activation(DType dtype, Value* v) {
  if (dtype == DType::bf16 && !target_.takes_words)
    return builder_.CreateTrunc(first_half(number_to_bf16(builder_.CreateBitCast(v, integer(32)))), integer(16));
  if (dtype != DType::bf16 || !target_.bounds_nans || lanes_ % 2 != 0) return from_float(dtype, v);
  Value* words = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes_ / 2));
  for (int word = 0; 2 * word < lanes_; ++word) {
    const auto number = static_cast<std::uint64_t>(word);
    Value* first = builder_.CreateExtractElement(v, 2 * number);
    Value* second = builder_.CreateExtractElement(v, 2 * number + 1);
    Value* pair = builder_.CreateIntrinsic(intrinsic::nvvm_ff2bf16x2_rn, {}, {second, first});
    words = builder_.CreateInsertElement(words, builder_.CreateBitCast(pair, builder_.getInt32Ty()), number);
  }
  return builder_.CreateBitCast(words, integer(16));
}

llvm::Value* OpEmitter::integer_abs(int width, Value* x) {
  if (width != 16 || target_.abs16) return builder_.CreateBinaryIntrinsic(intrinsic::abs, x, builder_.getFalse());
  return builder_.CreateTrunc(integer_abs(32, builder_.CreateSExt(x, integer(32))), integer(16));
}

/// x < 0 ? -1 : x > 0 ? 1 : x, on integers. A magnitude is a nonzero number's if its bits are from those of the least
/// one up to infinity's. The bits of 1 then replace the magnitude.
llvm::Value* OpEmitter::sign(DType dtype, Value* x) {
  const int width = ir::bit_width(dtype);
  if (!ir::is_float(dtype)) {
    Value* one = constant(width, 1);
    if (!ir::is_signed(dtype)) return builder_.CreateBinaryIntrinsic(intrinsic::umin, x, one);
    Value* at_most_one = builder_.CreateBinaryIntrinsic(intrinsic::smin, x, one);
    return builder_.CreateBinaryIntrinsic(intrinsic::smax, at_most_one, constant(width, ~std::uint64_t{0}));
  }
  Value* magnitude = builder_.CreateAnd(x, constant(width, sign_bit(dtype) - 1));
  Value* number =
      builder_.CreateICmpULT(builder_.CreateSub(magnitude, constant(width, 1)), constant(width, infinity_bits(dtype)));
  Value* signed_one = builder_.CreateOr(builder_.CreateAnd(x, constant(width, sign_bit(dtype))),
                                        constant(width, ir::format_of(dtype).one()));
  return builder_.CreateSelect(number, signed_one, x);
}

/// Floats order as their bits do once negative ones are flipped, which puts -0 below +0. A NaN wins.
llvm::Value* OpEmitter::extremum(Op op, DType dtype, Value* a, Value* b) {
  const bool largest = op == Op::maximum;
  if (!ir::is_float(dtype)) {
    const ID id = ir::is_signed(dtype) ? (largest ? intrinsic::smax : intrinsic::smin)
                                       : (largest ? intrinsic::umax : intrinsic::umin);
    return builder_.CreateBinaryIntrinsic(id, a, b);
  }
  const int width = ir::bit_width(dtype);
  Value* all_but_sign = constant(width, sign_bit(dtype) - 1);
  const auto key = [&](Value* x) {
    Value* negative = builder_.CreateAShr(x, constant(width, static_cast<std::uint64_t>(width - 1)));
    return builder_.CreateXor(x, builder_.CreateAnd(negative, all_but_sign));
  };
  const auto nan = [&](Value* x) {
    return builder_.CreateICmpUGT(builder_.CreateAnd(x, all_but_sign), constant(width, infinity_bits(dtype)));
  };
  Value* above = builder_.CreateICmpSGT(key(a), key(b));
  Value* chosen = largest ? builder_.CreateSelect(above, a, b) : builder_.CreateSelect(above, b, a);
  Value* quiet = constant(width, std::uint64_t{1} << (ir::format_of(dtype).fraction_bits - 1));
  chosen = builder_.CreateSelect(nan(b), builder_.CreateOr(b, quiet), chosen);
  return builder_.CreateSelect(nan(a), builder_.CreateOr(a, quiet), chosen);
}

llvm::Value* OpEmitter::float_to_float(DType from, DType to, Value* x) {
  if (to == DType::f64) return from_float(to, builder_.CreateFPExt(to_float(from, x), float_type(DType::f64)));
  if (from != DType::f64) return from_float(to, to_float(from, x));
  Value* wide = to_float(from, x);
  if (to == DType::f32) return from_float(to, builder_.CreateFPTrunc(wide, float_type(DType::f32)));
  return from_float(to, f64_to_f32_odd(wide));
}

/// The bits of an integer below 1024 are the last of the f16 of its sum with 1024. Two of four bytes become such sums
/// by one prmt.
llvm::Value* OpEmitter::bytes_to_f16(Value* x, bool is_signed) {
  const auto words = static_cast<unsigned>(lanes_) / 4, pairs = 2 * words;
  Value* from = builder_.CreateBitCast(x, llvm::FixedVectorType::get(builder_.getInt32Ty(), words));
  if (is_signed) from = builder_.CreateXor(from, llvm::ConstantInt::get(from->getType(), 0x80808080));
  Value* sums = llvm::PoisonValue::get(llvm::FixedVectorType::get(builder_.getInt32Ty(), pairs));
  for (std::uint64_t i = 0; i < pairs; ++i) {
    Value* selected = builder_.getInt32(i % 2 == 0 ? 0x4140 : 0x4342);
    Value* pair = builder_.CreateIntrinsic(
        intrinsic::nvvm_prmt, {builder_.CreateExtractElement(from, i / 2), builder_.getInt32(0x64), selected});
    sums = builder_.CreateInsertElement(sums, pair, i);
  }
  llvm::Type* halves = vector_of(builder_.getHalfTy());
  Value* added = llvm::ConstantFP::get(halves, is_signed ? 1024 + 128 : 1024);
  return builder_.CreateBitCast(builder_.CreateFSub(builder_.CreateBitCast(sums, halves), added), integer(16));
}

/// For f16 and bf16 a 64-bit integer first rounds all but its top 48 bits into an odd last bit, so that f64 holds it.
llvm::Value* OpEmitter::integer_to_float(DType from, DType to, Value* x) {
  const bool is_signed = ir::is_signed(from);
  if (to == DType::f16 && ir::bit_width(from) == 8 && lanes_ % 4 == 0 && target_.f16_arithmetic)
    return bytes_to_f16(x, is_signed);
  const auto convert = [&](Value* v, DType type) {
    return is_signed ? builder_.CreateSIToFP(v, float_type(type)) : builder_.CreateUIToFP(v, float_type(type));
  };
  if (to == DType::f64 || to == DType::f32) return from_float(to, convert(x, to));
  if (ir::bit_width(from) <= 16) return from_float(to, convert(x, DType::f32));  // exact
  if (ir::bit_width(from) < 64) return from_float(to, f64_to_f32_odd(convert(x, DType::f64)));
  Value* negative = builder_.CreateICmpSLT(x, constant(64, 0));
  Value* magnitude = is_signed ? builder_.CreateSelect(negative, builder_.CreateNeg(x), x) : x;
  Value* lost = builder_.CreateICmpNE(builder_.CreateAnd(magnitude, constant(64, 0xffff)), constant(64, 0));
  Value* sticky = builder_.CreateOr(builder_.CreateAnd(magnitude, constant(64, ~std::uint64_t{0xffff})),
                                    builder_.CreateSelect(lost, constant(64, 0x10000), constant(64, 0)));
  Value* large = builder_.CreateICmpUGE(magnitude, constant(64, std::uint64_t{1} << 48));
  Value* shortened = builder_.CreateSelect(large, sticky, magnitude);
  Value* value = builder_.CreateUIToFP(shortened, float_type(DType::f64));
  if (is_signed) value = builder_.CreateSelect(negative, builder_.CreateFNeg(value), value);
  return from_float(to, f64_to_f32_odd(value));
}

llvm::Value* OpEmitter::float_to_integer(DType from, DType to, Value* x) {
  Value* value = to_float(from, x);
  const ID id = ir::is_signed(to) ? intrinsic::fptosi_sat : intrinsic::fptoui_sat;
  return builder_.CreateIntrinsic(id, {storage_type(to), value->getType()}, {value});
}

llvm::Value* OpEmitter::cast(DType from, DType to, Value* x) {
  if (from == to) return x;
  if (from == DType::boolean) {
    x = byte(truth(x));
    from = DType::u8;
    if (to == DType::u8) return x;
  }
  if (to == DType::boolean) {
    const std::uint64_t value_bits = ir::is_float(from) ? sign_bit(from) - 1 : ~std::uint64_t{0};
    return byte(builder_.CreateICmpNE(builder_.CreateAnd(x, bits(from, value_bits)), bits(from, 0)));
  }
  if (ir::is_float(from)) return ir::is_float(to) ? float_to_float(from, to, x) : float_to_integer(from, to, x);
  if (ir::is_float(to)) return integer_to_float(from, to, x);
  return builder_.CreateIntCast(x, storage_type(to), ir::is_signed(from));
}

llvm::Value* OpEmitter::emit(Op op, DType result, DType operand, std::span<Value* const> v) {
  if (ir::info_of(op).op_class == ir::OpClass::activation) return activation(op, operand, v[0]);
  if (target_.packs_words && PackedWords::takes(op, operand, lanes_, on_words_))
    return PackedWords(builder_, lanes_, operand, on_words_).emit(op, v);
  switch (op) {
    case Op::relu:
      return relu(operand, v[0]);
    case Op::leaky_relu:
      return leaky_relu(operand, v[0], v[1]);
    case Op::clamp:
      return clamp(operand, v[0], v[1], v[2]);
    case Op::neg:
    case Op::abs:
    case Op::sqrt:
      return unary(op, operand, v[0]);
    case Op::sign:
      return sign(operand, v[0]);
    case Op::floor:
    case Op::ceil:
    case Op::round:
      return whole(op, operand, v[0]);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
      return arithmetic(op, operand, v[0], v[1]);
    case Op::maximum:
    case Op::minimum:
      return extremum(op, operand, v[0], v[1]);
    case Op::lt:
    case Op::le:
    case Op::gt:
    case Op::ge:
    case Op::eq:
    case Op::ne:
      return compare(op, operand, v[0], v[1]);
    case Op::logical_and:
      return byte(builder_.CreateAnd(truth(v[0]), truth(v[1])));
    case Op::logical_or:
      return byte(builder_.CreateOr(truth(v[0]), truth(v[1])));
    case Op::logical_not:
      return byte(builder_.CreateNot(truth(v[0])));
    case Op::select:
      return builder_.CreateSelect(truth(v[0]), v[1], v[2]);
    case Op::cast:
      return cast(operand, result, v[0]);
    default:
      break;  // moves data, or is an index: never in a body
  }
  return nullptr;
}

}  // namespace padlock::compiler
