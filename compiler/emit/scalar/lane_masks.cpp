#include "compiler/emit/scalar/lane_masks.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace padlock::compiler {

using llvm::Value;

/// Emits a word whose lowest `count` bits are set, from none to 32; `count` may be outside these bounds. (PTX ISA,
/// shf.l.clamp: the upper word of two, shifted to the left by at most 32.)
Value* LaneMasks::low_bits(Value* count) {
  llvm::Type* i32 = builder_.getInt32Ty();
  Value* least = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, builder_.getInt32(0));
  if (is_gpu_) {
    auto* function = llvm::FunctionType::get(i32, {i32, i32, i32}, false);
    llvm::InlineAsm* code =
        llvm::InlineAsm::get(function, "shf.l.clamp.b32 $0, $1, $2, $3;", "=r,r,r,r", /*hasSideEffects=*/false);
    llvm::CallInst* call = builder_.CreateCall(code, {builder_.getInt32(~0U), builder_.getInt32(0), least});
    call->setDoesNotAccessMemory();
    call->setDoesNotThrow();
    return call;
  }
  Value* most = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, least, builder_.getInt32(32));
  Value* shift = builder_.CreateZExt(builder_.CreateSub(builder_.getInt32(32), most), builder_.getInt64Ty());
  return builder_.CreateTrunc(builder_.CreateLShr(builder_.getInt64(0xFFFFFFFF), shift), i32);
}

/// Emits bytes of all ones where the last bit of a word's bytes is set, else of zeros. A hexadecimal digit of
/// `selector` names the word's byte for each byte made, from the lowest on. (PTX ISA, prmt: a digit from 8 on
/// replicates the sign.)
Value* LaneMasks::signs_of(Value* word, std::uint32_t selector) {
  if (permutes_bytes_)
    return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_prmt, {},
                                    {word, builder_.getInt32(0), builder_.getInt32(selector | 0x8888)});
  Value* made = builder_.getInt32(0);
  for (std::uint32_t byte = 0; byte < 4; ++byte) {
    const std::uint32_t from = selector >> (4 * byte) & 7;
    Value* sign = builder_.CreateAnd(builder_.CreateLShr(word, std::uint64_t{8 * from + 7}), builder_.getInt32(1));
    made = builder_.CreateOr(made, builder_.CreateMul(sign, builder_.getInt32(0xFFU << (8 * byte))));
  }
  return made;
}

/// Elements of whole words: compares lanes. Lanes from the first on: shifts each word. Others: multiplies four lanes'
/// bits to the signs of a word's bytes. Bit i times 2^(7 + 7i) is bit 8i + 7, and no two products meet. (An H100, of a
/// copy: joined f32 .91 by signs and 1.00 by comparisons; f16 images of 7x7 .80 by signs and .72 by shifts.)
Value* LaneMasks::range(Value* first, Value* end, unsigned bits) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(first);
  const bool from_start = constant != nullptr && constant->isZero();
  Value* made = llvm::PoisonValue::get(type(bits));
  Value *inside = nullptr, *signs = nullptr;
  for (unsigned word = 0; word < words(bits); ++word) {
    const unsigned lane = 32 * word / bits;
    Value* mask = nullptr;
    if (bits >= 32) {
      Value* number = builder_.getInt32(lane);
      Value* holds = builder_.CreateAnd(builder_.CreateICmpSLE(first, number), builder_.CreateICmpSLT(number, end));
      mask = builder_.CreateSExt(holds, builder_.getInt32Ty());
    } else if (from_start) {
      Value* bit = builder_.CreateMul(end, builder_.getInt32(bits));
      mask = low_bits(builder_.CreateSub(bit, builder_.getInt32(32 * word)));
    } else {
      if (inside == nullptr) inside = builder_.CreateAnd(low_bits(end), builder_.CreateNot(low_bits(first)));
      if (lane % 4 == 0) {
        Value* four = builder_.CreateAnd(builder_.CreateLShr(inside, std::uint64_t{lane}), builder_.getInt32(15));
        signs = builder_.CreateMul(four, builder_.getInt32(0x10204080));
      }
      std::uint32_t selector = 0;
      for (unsigned byte = 0; byte < 4; ++byte) selector |= ((32 * word + 8 * byte) / bits % 4) << (4 * byte);
      mask = signs_of(signs, selector);
    }
    made = builder_.CreateInsertElement(made, mask, std::uint64_t{word});
  }
  return made;
}

}  // namespace padlock::compiler
