#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace padlock::compiler {

/// Sets, at the entry of a function that computes, round to nearest even, no flush to zero, no denormals-are-zero,
/// whatever the caller has set. Returns where the caller's setting is kept.
[[nodiscard]] inline llvm::Value* save_environment(llvm::IRBuilder<>& builder) {
  llvm::Value* slot = builder.CreateAlloca(builder.getInt32Ty());
  llvm::Value* ours = builder.CreateAlloca(builder.getInt32Ty());
  builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_stmxcsr, {slot});
  builder.CreateStore(builder.getInt32(0x1F80), ours);
  builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {ours});
  return slot;
}

inline void restore_environment(llvm::IRBuilder<>& builder, llvm::Value* slot) {
  builder.CreateIntrinsic(llvm::Intrinsic::x86_sse_ldmxcsr, {slot});
}

}  // namespace padlock::compiler
