#include "compiler/emit/gpu/boxes/bulk_copies.h"

#include <llvm/IR/InlineAsm.h>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

void BulkCopies::start(const std::vector<BulkCopy>& copies) {
  Value* bytes = builder_.getInt32(0);
  for (const BulkCopy& copy : copies) bytes = builder_.CreateAdd(bytes, copy.bytes, "told");
  memory_.has_stamps() ? run(copies, bytes) : start_on_gpu(copies, bytes);
}

/// (PTX ISA, cp.async.bulk, and mbarrier.)
void BulkCopies::start_on_gpu(const std::vector<BulkCopy>& copies, Value* bytes) {
  Value* barrier = memory_.first();
  emit_ptx("mbarrier.init.shared::cta.b64 [$0], 1;", {barrier});
  emit_ptx("fence.mbarrier_init.release.cluster;", {});
  emit_ptx("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", {barrier, bytes});
  for (const BulkCopy& copy : copies)
    vector_.when(builder_.CreateICmpSGT(copy.bytes, builder_.getInt32(0)), [&] {
      Value* from = builder_.CreatePtrToInt(accesses_.address(copy.from), builder_.getInt64Ty());
      emit_ptx("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1], $2, [$3];",
               {copy.to, from, copy.bytes, barrier});
    });
}

void BulkCopies::run(const std::vector<BulkCopy>& copies, Value* bytes) {
  Value* came = builder_.getInt32(0);
  for (const BulkCopy& copy : copies) {
    const int size = ir::byte_size(copy.from.dtype);
    llvm::Type* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), kStageVectorBytes / 4);
    counted_loop(builder_, builder_.getInt32(0), copy.bytes, kStageVectorBytes, [&](Value* at) {
      Access from = copy.from;
      from.first = builder_.CreateAdd(from.first, builder_.CreateUDiv(at, vector_.context.index(size)));
      memory_.store_in_bulk(builder_.CreateAdd(copy.to, at), accesses_.load(from, type));
    });
    came = builder_.CreateAdd(came, copy.bytes);
  }
  memory_.store(memory_.first(), bytes);
  memory_.store(builder_.CreateAdd(memory_.first(), builder_.getInt32(4)), came);
}

void BulkCopies::wait() {
  if (!memory_.has_stamps())
    return emit_ptx(
        "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], 0; @!done bra again; }",
        {memory_.first()});
  Value* first = memory_.first();
  const std::vector<Value*> words = memory_.load_words(first, 2, [&] { return memory_.is_written(first, 8); });
  memory_.set_waited(builder_.CreateICmpEQ(words[0], words[1], "waited"));
}

/// Emits PTX with operands in shared memory (i32 addresses) and in global memory (i64 addresses).
void BulkCopies::emit_ptx(const char* code, llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<llvm::Type*, 4> types;
  std::string constraints;
  for (Value* operand : operands) {
    types.push_back(operand->getType());
    constraints += operand->getType()->isIntegerTy(64) ? "l," : "r,";
  }
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), types, false);
  builder_.CreateCall(llvm::InlineAsm::get(type, code, constraints + "~{memory}", /*hasSideEffects=*/true), operands);
}

}  // namespace padlock::compiler
