#pragma once

#include "compiler/emit/gpu/vector_grid/vector_stores.h"

namespace padlock::compiler {

/// Emits stores of a vector that a run has only some lanes of: those before the run's first element, or after its last,
/// are missing. The others go in a few stores of 1, 2, 4, .. lanes, each at a multiple of its size.
class VectorParts {
 public:
  VectorParts(const VectorContext& vector, VectorStores& stores) : vector_(vector), stores_(stores) {}

  /// Stores lanes [first, end) of the results, both i32. Lane 0 is `element` of the output, an index.
  void store(llvm::Value* element, llvm::Value* first, llvm::Value* end, llvm::ArrayRef<llvm::Value*> results);

 private:
  [[nodiscard]] llvm::Value* part_of(llvm::Value* result, llvm::Value* lane, int lanes);
  void store_parts(llvm::Value* element, llvm::Value* first, llvm::Value* end, llvm::ArrayRef<llvm::Value*> results);
  void store_elements(llvm::Value* element, llvm::Value* first, llvm::Value* end, llvm::ArrayRef<llvm::Value*> results);

  const VectorContext& vector_;
  VectorStores& stores_;
};

}  // namespace padlock::compiler
