#include "tests/activation/moved_seed.h"

#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

namespace padlock::activation {
namespace {

bool is_reciprocal(const llvm::Instruction& instruction) {
  if (instruction.getOpcode() != llvm::Instruction::FDiv || instruction.getType()->isVectorTy()) return false;
  const auto* above = llvm::dyn_cast<llvm::ConstantFP>(instruction.getOperand(0));
  return above != nullptr && above->isExactlyValue(1.0);
}

bool is_seed_of_rsqrt(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (call == nullptr) return false;
  return call->getIntrinsicID() == llvm::Intrinsic::x86_avx_rsqrt_ps_256 ||
         call->getIntrinsicID() == llvm::Intrinsic::x86_avx512_rsqrt14_ps_512;
}

/// What is moved in place of the instruction: itself, or for a seed the reciprocal square root to half a unit or so.
llvm::Value* nearest(llvm::IRBuilder<>& builder, llvm::Instruction& instruction) {
  if (!is_seed_of_rsqrt(instruction)) return &instruction;
  llvm::Value* root = builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, instruction.getOperand(0));
  return builder.CreateFDiv(llvm::ConstantFP::get(root->getType(), 1), root);
}

}  // namespace

/// Zeros and infinities stay what they are.
void MovedSeed::emitted(llvm::Module& module) const {
  std::vector<llvm::Instruction*> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (is_reciprocal(instruction) || is_seed_of_rsqrt(instruction)) found.push_back(&instruction);
  for (llvm::Instruction* instruction : found) {
    llvm::IRBuilder<> builder(instruction->getNextNode());
    llvm::Type* type = instruction->getType();
    const bool is_wide = type->isDoubleTy();
    llvm::Type* integer = type->getWithNewType(builder.getIntNTy(type->getScalarSizeInBits()));
    llvm::Value* infinity = llvm::ConstantInt::get(integer, is_wide ? std::uint64_t{0x7ff} << 52 : 0x7f800000);
    llvm::Value* right = nearest(builder, *instruction);
    llvm::Value* bits = builder.CreateBitCast(right, integer);
    llvm::Value* exponent = builder.CreateAnd(bits, infinity);
    llvm::Value* is_special = builder.CreateOr(builder.CreateICmpEQ(exponent, llvm::ConstantInt::get(integer, 0)),
                                               builder.CreateICmpEQ(exponent, infinity));
    const std::int64_t step = is_wide ? std::int64_t{1} << 32 : 1;
    llvm::Value* moved = builder.CreateAdd(bits, llvm::ConstantInt::getSigned(integer, units_ * step));
    llvm::Value* wrong = builder.CreateBitCast(builder.CreateSelect(is_special, bits, moved), type);
    instruction->replaceUsesWithIf(wrong,
                                   [&](llvm::Use& use) { return use.getUser() != bits && use.get() == instruction; });
  }
  moved_ = static_cast<int>(found.size());
}

}  // namespace padlock::activation
