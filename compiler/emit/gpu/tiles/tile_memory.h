#pragma once

#include <vector>

#include "compiler/emit/gpu/tiles/tile_addresses.h"

namespace padlock::compiler {

/// Emits accesses of the memory that the threads of a block share.
///
/// A device that runs a block's threads one after the other keeps a stamp for each element: 0, or who wrote the
/// element, and on which side of the barrier. Reading an element is a fault unless it was written before the barrier or
/// by this thread. Two threads writing one element is a fault. On a GPU the order of the two accesses is open.
class TileMemory : private TileEmitterBase {
 public:
  /// `thread`: its number, whose code is emitted.
  TileMemory(const VectorContext& vector, llvm::Value* thread) : TileEmitterBase(vector), thread_(thread) {}

  /// Emits element `lane` of word `word` of an array, both indices.
  [[nodiscard]] llvm::Value* load(int array, llvm::Value* word, llvm::Value* lane, ir::DType dtype);
  void store(int array, llvm::Value* word, llvm::Value* lane, ir::DType dtype, llvm::Value* value);
  /// Stores all lanes of a word, one integer. The word is `word` plus `later`, a constant in the code, here and where
  /// vectors are loaded.
  void store_word(int array, llvm::Value* word, std::int64_t later, ir::DType dtype, llvm::Value* value);
  /// Emits the words of a vector that begins at a lane of a word, one integer each. `lane`: null for the first lane.
  /// `needed`: for each element whether it must be there; empty if all must.
  [[nodiscard]] std::vector<llvm::Value*> load_vector(int array, llvm::Value* word, std::int64_t later,
                                                      llvm::Value* lane, ir::DType dtype,
                                                      llvm::ArrayRef<llvm::Value*> needed);

 private:
  Access access_of(int array, llvm::Value* word, llvm::Value* lane, ir::DType dtype);
  Access word_access(int array, llvm::Value* word, std::int64_t later, ir::DType dtype);
  llvm::Value* stamp_of(int array, llvm::Value* word, llvm::Value* lane);
  llvm::Value* is_own(llvm::Value* stamp);
  llvm::Value* may_load(int array, llvm::Value* word, llvm::Value* lane);
  llvm::Value* may_load_vector(int array, llvm::Value* word, std::int64_t first, llvm::Value* lane,
                               llvm::ArrayRef<llvm::Value*> needed);
  llvm::Value* claim(int array, llvm::Value* word, llvm::Value* lane);
  void require(Access& access, llvm::Value* condition);

  llvm::Value* thread_;
};

}  // namespace padlock::compiler
