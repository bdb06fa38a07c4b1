#pragma once

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// The vectors that a warp has not taken whole, in memory that its threads share: their count, then their slots.
class EdgeList {
 public:
  /// `thread`: its number in the block, an index.
  EdgeList(const VectorContext& vector, llvm::Value* thread);

  /// Returns the words that a block's threads share.
  [[nodiscard]] static int shared_words(const KernelContext& context);

  /// Emits whether a thread of the warp has an edge. All threads of a warp must call it.
  [[nodiscard]] llvm::Value* any(llvm::ArrayRef<llvm::Value*> are_edges);
  /// Adds the slots for which `are_edges` holds, all slots of a thread at once. All threads of a warp must call it.
  void add(llvm::ArrayRef<llvm::Value*> slots, llvm::ArrayRef<llvm::Value*> are_edges);
  /// Emits `trip(slot, lane)` for this thread's share of the elements. An element is lane `lane` of a vector. Both are
  /// indices.
  void for_each_element(llvm::function_ref<void(llvm::Value* slot, llvm::Value* lane)> trip);

 private:
  static constexpr int kWarp = 32;
  [[nodiscard]] llvm::Value* word(llvm::Value* index) const;
  [[nodiscard]] llvm::Value* ballot(llvm::Value* condition) const;
  void add_in_turn(llvm::ArrayRef<llvm::Value*> slots, llvm::ArrayRef<llvm::Value*> are_edges);
  [[nodiscard]] llvm::Value* count();

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  llvm::Value* list_;
  llvm::Value* lane_;               // the thread's, in its warp, i32
  llvm::Value* counted_ = nullptr;  // the count, if a block's threads do not run one after the other
};

}  // namespace padlock::compiler
