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

  /// Returns whether marks cost less than masks of their own. (On a target with mask registers, a test of each sign
  /// took 1.06 times as long.)
  [[nodiscard]] static bool pays_to_mark(Architecture architecture, int lanes, int size, bool mask_registers);

  /// Converts indices for `permuted`, to the same type: a vector of integers as wide as the elements.
  [[nodiscard]] llvm::Value* numbered(llvm::Value* indices);
  /// Returns a vector whose element i is element indices[i] of `vector`. `numbers`: the indices from `numbered`. An
  /// index at or above the number of lanes gives undefined bits.
  [[nodiscard]] llvm::Value* permuted(llvm::Value* vector, llvm::Value* numbers);
  /// Returns numbers that also tell which lanes `holds`, a vector of i1, has; `permuted` gives the other lanes
  /// undefined bits.
  [[nodiscard]] llvm::Value* marked(llvm::Value* numbers, llvm::Value* holds);
  /// Returns which lanes marked numbers hold, as a vector of i1.
  [[nodiscard]] llvm::Value* holds(llvm::Value* numbers);
  /// Returns whether one instruction gives the lanes of `other` that marked numbers do not hold.
  [[nodiscard]] bool chooses(const llvm::Value* other) const;
  /// As `permuted`, but with the lanes of `other` where marked numbers do not hold. Precondition: chooses(other).
  [[nodiscard]] llvm::Value* permuted_or(llvm::Value* vector, llvm::Value* numbers, llvm::Value* other);
  /// As `permuted`, for two or four vectors of 16 bytes, one after the other, each by its own numbers.
  [[nodiscard]] llvm::Value* permuted_blocks(llvm::Value* vectors, llvm::Value* numbers);

 private:
  [[nodiscard]] llvm::FixedVectorType* units() const;
  llvm::Value* as_units(llvm::Value* vector);
  [[nodiscard]] bool zeroes_others() const;

  llvm::IRBuilder<>& builder_;
  Architecture architecture_;
  int lanes_, size_;
  int bytes_;  // bytes of the instruction's vector
  int unit_;   // bytes that it permutes as one
  unsigned intrinsic_;
  unsigned intrinsic_of_two_;  // takes lanes of two vectors, and is as fast; or 0
};

}  // namespace padlock::compiler
