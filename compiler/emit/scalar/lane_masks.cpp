#include "compiler/emit/scalar/lane_masks.h"

#include <llvm/IR/InlineAsm.h>

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

Value* LaneMasks::range(Value* first, Value* end, unsigned bits) {
  Value* made = llvm::PoisonValue::get(type(bits));
  for (unsigned word = 0; word < words(bits); ++word) {
    Value* mask = nullptr;
    if (bits < 32) {
      const auto below = [&](Value* lane) {
        Value* bit = builder_.CreateMul(lane, builder_.getInt32(bits));
        return low_bits(builder_.CreateSub(bit, builder_.getInt32(32 * word)));
      };
      mask = builder_.CreateAnd(below(end), builder_.CreateNot(below(first)));
    } else {
      Value* lane = builder_.getInt32(32 * word / bits);
      Value* inside = builder_.CreateAnd(builder_.CreateICmpSLE(first, lane), builder_.CreateICmpSLT(lane, end));
      mask = builder_.CreateSExt(inside, builder_.getInt32Ty());
    }
    made = builder_.CreateInsertElement(made, mask, std::uint64_t{word});
  }
  return made;
}

}  // namespace padlock::compiler
