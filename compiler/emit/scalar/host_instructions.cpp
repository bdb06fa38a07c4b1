#include "compiler/emit/scalar/host_instructions.h"

#include <llvm/IR/IntrinsicsAArch64.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace padlock::compiler {

using llvm::Value;
namespace intrinsic = llvm::Intrinsic;

namespace {

/// Returns the instruction that selects bytes within blocks of 16, for vectors of this many bytes.
llvm::Intrinsic::ID byte_shuffle(Architecture architecture, unsigned bytes) {
  if (architecture == Architecture::aarch64) return intrinsic::aarch64_neon_tbl1;
  return bytes == 16   ? intrinsic::x86_ssse3_pshuf_b_128
         : bytes == 32 ? intrinsic::x86_avx2_pshuf_b
                       : intrinsic::x86_avx512_pshuf_b_512;
}

}  // namespace

Value* call_intrinsic(llvm::IRBuilder<>& builder, intrinsic::ID id, llvm::ArrayRef<Value*> arguments) {
  if (intrinsic::isOverloaded(id)) return builder.CreateIntrinsic(id, {arguments.front()->getType()}, arguments);
  return builder.CreateIntrinsic(id, {}, arguments);
}

Value* save_environment(llvm::IRBuilder<>& builder, Architecture architecture) {
  if (architecture == Architecture::aarch64) {
    Value* caller = builder.CreateIntrinsic(intrinsic::aarch64_get_fpcr, llvm::ArrayRef<llvm::Type*>(), {});
    builder.CreateIntrinsic(intrinsic::aarch64_set_fpcr, {}, {builder.getInt64(0)});
    return caller;
  }
  Value* slot = builder.CreateAlloca(builder.getInt32Ty());
  Value* ours = builder.CreateAlloca(builder.getInt32Ty());
  builder.CreateIntrinsic(intrinsic::x86_sse_stmxcsr, {slot});
  builder.CreateStore(builder.getInt32(0x1F80), ours);
  builder.CreateIntrinsic(intrinsic::x86_sse_ldmxcsr, {ours});
  return slot;
}

void restore_environment(llvm::IRBuilder<>& builder, Architecture architecture, Value* saved) {
  const llvm::Intrinsic::ID set = architecture == Architecture::aarch64
                                      ? llvm::Intrinsic::ID{intrinsic::aarch64_set_fpcr}
                                      : llvm::Intrinsic::ID{intrinsic::x86_sse_ldmxcsr};
  builder.CreateIntrinsic(set, {}, {saved});
}

/// AArch64 orders non-temporal stores as all others (Arm ARM, B2: the relaxation is of non-temporal loads), so what
/// ends a task orders them.
void emit_store_fence(llvm::IRBuilder<>& builder, Architecture architecture) {
  if (architecture == Architecture::x86_64) builder.CreateIntrinsic(intrinsic::x86_sse_sfence, {});
}

Value* shuffle_bytes(llvm::IRBuilder<>& builder, Architecture architecture, Value* vector, Value* index) {
  const unsigned bytes = llvm::cast<llvm::FixedVectorType>(index->getType())->getNumElements();
  Value* taken = call_intrinsic(builder, byte_shuffle(architecture, bytes),
                                {builder.CreateBitCast(vector, index->getType()), index});
  return builder.CreateBitCast(taken, vector->getType());
}

}  // namespace padlock::compiler
