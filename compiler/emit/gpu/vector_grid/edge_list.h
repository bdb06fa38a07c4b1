#pragma once

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// The vectors that a block has not taken whole, in memory that its threads share: their count, then their slots in any
/// order.
class EdgeList {
 public:
  /// `thread`: its number in the block, an index.
  EdgeList(const VectorContext& vector, llvm::Value* thread);

  /// Returns the words that a block's threads share.
  [[nodiscard]] static int shared_words(const KernelContext& context);

  /// Empties the list. All threads of the block must call it, and none adds before.
  void clear();
  /// Adds a slot where `is_edge` holds.
  void add(llvm::Value* slot, llvm::Value* is_edge);
  /// Emits `trip(slot, lane)` for this thread's share of the elements: lane number `lane` of a vector. Both are
  /// indices. A barrier of the block lies between `add` and it.
  void for_each_element(llvm::function_ref<void(llvm::Value* slot, llvm::Value* lane)> trip);

 private:
  [[nodiscard]] llvm::Value* word(llvm::Value* index) const;

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  llvm::Value* thread_;  // i32
};

}  // namespace padlock::compiler
