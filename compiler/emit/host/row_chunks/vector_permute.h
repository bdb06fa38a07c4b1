#pragma once

#include <llvm/IR/IRBuilder.h>

namespace padlock::compiler {

/// Emits permutations of a vector's elements by indices that are known at run time: one instruction each, of those that
/// a target's VectorPermutes stand for.
class VectorPermute {
 public:
  /// A vector of `lanes` elements of `size` bytes. Borrows the builder.
  VectorPermute(llvm::IRBuilder<>& builder, int lanes, int size);

  /// Returns what `permuted` takes of the indices, of the same type: a vector of integers as wide as the elements.
  [[nodiscard]] llvm::Value* numbered(llvm::Value* indices);
  /// Element i of it is element indices[i] of the vector, by their numbers. An index that is not below the number of
  /// lanes gives any bits.
  [[nodiscard]] llvm::Value* permuted(llvm::Value* vector, llvm::Value* numbers);
  /// The same of two or four vectors of 16 bytes, one after the other, each by its own numbers.
  [[nodiscard]] llvm::Value* permuted_blocks(llvm::Value* vectors, llvm::Value* numbers);

 private:
  [[nodiscard]] llvm::FixedVectorType* units() const;
  llvm::Value* as_units(llvm::Value* vector);

  llvm::IRBuilder<>& builder_;
  int lanes_, size_;
  int bytes_;  // of the instruction's vectors
  int unit_;   // bytes of what it permutes
  unsigned intrinsic_;
};

}  // namespace padlock::compiler
