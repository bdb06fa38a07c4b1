#include "compiler/emit/gpu/vector_grid/edge_list.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "compiler/emit/scalar/emit_loop.h"

namespace padlock::compiler {

EdgeList::EdgeList(const VectorContext& vector, Value* thread) : vector_(vector), builder_(vector.builder) {
  Value* number = builder_.CreateZExtOrTrunc(thread, builder_.getInt32Ty());
  Value* warp = builder_.CreateLShr(number, llvm::Log2_32(kWarp));
  lane_ = builder_.CreateAnd(number, builder_.getInt32(kWarp - 1));
  const auto own = static_cast<std::uint32_t>(1 + kWarp * vector.context.vectors);
  list_ = builder_.CreateGEP(builder_.getInt32Ty(), vector.shared, builder_.CreateMul(warp, builder_.getInt32(own)));
}

int EdgeList::shared_words(const KernelContext& context) {
  const VectorGrid& grid = *context.schedule.grid();
  if (grid.by_element || context.is_even) return 0;
  return grid.threads / kWarp * (1 + kWarp * context.vectors);
}

Value* EdgeList::word(Value* index) const { return builder_.CreateGEP(builder_.getInt32Ty(), list_, index); }

Value* EdgeList::ballot(Value* condition) const {
  return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {builder_.getInt32(~0U), condition});
}

/// As `add`, for threads that run one after the other: the count is in memory and begins as 0.
void EdgeList::add_in_turn(llvm::ArrayRef<Value*> slots, llvm::ArrayRef<Value*> are_edges) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    vector_.when(are_edges[i], [&] {
      Value* next = builder_.CreateAdd(count(), builder_.getInt32(1));
      builder_.CreateStore(builder_.CreateTrunc(slots[i], builder_.getInt32Ty()), word(next));
      builder_.CreateStore(next, list_);
    });
}

Value* EdgeList::any(llvm::ArrayRef<Value*> are_edges) {
  return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_any_sync,
                                  {builder_.getInt32(~0U), builder_.CreateOr(are_edges)});
}

void EdgeList::add(llvm::ArrayRef<Value*> slots, llvm::ArrayRef<Value*> are_edges) {
  if (vector_.interval != nullptr) return add_in_turn(slots, are_edges);
  Value* before = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_lanemask_lt, {});
  Value* next = builder_.getInt32(1);
  const auto ones = [&](Value* mask) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask); };
  for (std::size_t i = 0; i < slots.size(); ++i) {
    Value* edges = ballot(are_edges[i]);
    Value* at = builder_.CreateAdd(next, ones(builder_.CreateAnd(edges, before)));
    vector_.when(are_edges[i],
                 [&] { builder_.CreateStore(builder_.CreateTrunc(slots[i], builder_.getInt32Ty()), word(at)); });
    next = builder_.CreateAdd(next, ones(edges));
  }
  counted_ = builder_.CreateSub(next, builder_.getInt32(1));
  builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {builder_.getInt32(~0U)});
}

Value* EdgeList::count() {
  return vector_.interval == nullptr ? counted_ : builder_.CreateLoad(builder_.getInt32Ty(), list_);
}

void EdgeList::for_each_element(llvm::function_ref<void(Value* slot, Value* lane)> trip) {
  const auto lanes = static_cast<std::uint32_t>(vector_.lanes());
  llvm::Type* index = vector_.context.index_type();
  Value* elements = builder_.CreateMul(count(), builder_.getInt32(lanes));
  counted_loop(builder_, lane_, elements, kWarp, [&](Value* at) {
    Value* edge = builder_.CreateUDiv(at, builder_.getInt32(lanes));
    Value* slot = builder_.CreateLoad(builder_.getInt32Ty(), word(builder_.CreateAdd(edge, builder_.getInt32(1))));
    trip(builder_.CreateZExtOrTrunc(slot, index),
         builder_.CreateZExtOrTrunc(builder_.CreateURem(at, builder_.getInt32(lanes)), index));
  });
}

}  // namespace padlock::compiler
