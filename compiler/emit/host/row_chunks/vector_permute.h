#pragma once

#include <llvm/IR/IRBuilder.h>

#include "support/cpu/architecture.h"

namespace padlock::compiler {

/// Emits permutations of a vector's elements by indices that are known at run time. Each permutation is one instruction
/// that the target has by its VectorPermutes.
class VectorPermute {
 public:
  /// A vector of `lanes` elements of `size` bytes. Borrows the builder.
  VectorPermute(llvm::IRBuilder<>& builder, Architecture architecture, int lanes, int size);

  /// Converts indices for `permuted`, to the same type: a vector of integers as wide as the elements.
  [[nodiscard]] llvm::Value* numbered(llvm::Value* indices);
  /// Returns a vector whose element i is element indices[i] of `vector`. `numbers`: the indices from `numbered`. An
  /// index at or above the number of lanes gives undefined bits.
  [[nodiscard]] llvm::Value* permuted(llvm::Value* vector, llvm::Value* numbers);
  /// As `permuted`, for two or four vectors of 16 bytes, one after the other, each by its own numbers.
  [[nodiscard]] llvm::Value* permuted_blocks(llvm::Value* vectors, llvm::Value* numbers);

 private:
  [[nodiscard]] llvm::FixedVectorType* units() const;
  llvm::Value* as_units(llvm::Value* vector);

  llvm::IRBuilder<>& builder_;
  Architecture architecture_;
  int lanes_, size_;
  int bytes_;  // bytes of the instruction's vector
  int unit_;   // bytes that it permutes as one
  unsigned intrinsic_;
};

}  // namespace padlock::compiler
