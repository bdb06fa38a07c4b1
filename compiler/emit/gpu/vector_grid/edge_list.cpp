#include "compiler/emit/gpu/vector_grid/edge_list.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

EdgeList::EdgeList(const VectorContext& vector, Value* thread)
    : vector_(vector), builder_(vector.builder), thread_(builder_.CreateZExtOrTrunc(thread, builder_.getInt32Ty())) {}

int EdgeList::shared_words(const KernelContext& context) {
  return 1 + context.schedule.grid()->threads * context.vectors;
}

Value* EdgeList::word(Value* index) const { return builder_.CreateGEP(builder_.getInt32Ty(), vector_.shared, index); }

/// The memory of threads that run one after the other begins as 0.
void EdgeList::clear() {
  if (vector_.interval != nullptr) return;
  vector_.when(builder_.CreateIsNull(thread_), [&] { builder_.CreateStore(builder_.getInt32(0), vector_.shared); });
  builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all, {builder_.getInt32(0)});
}

void EdgeList::add(Value* slot, Value* is_edge) {
  vector_.when(is_edge, [&] {
    Value* before = builder_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, vector_.shared, builder_.getInt32(1),
                                             llvm::Align(4), llvm::AtomicOrdering::Monotonic);
    Value* own = word(builder_.CreateAdd(before, builder_.getInt32(1)));
    builder_.CreateStore(builder_.CreateTrunc(slot, builder_.getInt32Ty()), own);
  });
}

void EdgeList::for_each_element(llvm::function_ref<void(Value* slot, Value* lane)> trip) {
  const auto lanes = static_cast<std::uint32_t>(vector_.lanes());
  llvm::Type* index = vector_.context.index_type();
  Value* edges = builder_.CreateLoad(builder_.getInt32Ty(), vector_.shared);
  Value* elements = builder_.CreateMul(edges, builder_.getInt32(lanes));
  counted_loop(builder_, thread_, elements, vector_.grid().threads, [&](Value* at) {
    Value* edge = builder_.CreateUDiv(at, builder_.getInt32(lanes));
    Value* slot = builder_.CreateLoad(builder_.getInt32Ty(), word(builder_.CreateAdd(edge, builder_.getInt32(1))));
    trip(builder_.CreateZExtOrTrunc(slot, index),
         builder_.CreateZExtOrTrunc(builder_.CreateURem(at, builder_.getInt32(lanes)), index));
  });
}

}  // namespace padlock::compiler
