#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace padlock::compiler {

/// Cuts a vector out of two vectors that are adjacent in memory.
class VectorShift {
 public:
  /// For vectors of `bytes` bytes, a power of two, and shifts by multiples of `granularity` bytes. Borrows the builder.
  VectorShift(llvm::IRBuilder<>& builder, unsigned bytes, int granularity)
      : builder_(builder), bytes_(bytes), granularity_(granularity) {}

  /// Returns the type in which vectors are loaded: words of 32 bits, as a GPU shifts them.
  [[nodiscard]] llvm::Type* type() const;
  /// Returns the bytes of `low` and then of `high` from byte `shift` on (i32, below `bytes`).
  [[nodiscard]] llvm::Value* shifted(llvm::Value* low, llvm::Value* high, llvm::Value* shift) const;

 private:
  llvm::IRBuilder<>& builder_;
  unsigned bytes_;
  int granularity_;
};

/// Emits the transpose of a square of elements. Of n vectors of n elements, element j of vector i becomes element i of
/// vector j. `on_gpu`: chooses bytes of words by a GPU's instruction for it.
[[nodiscard]] std::vector<llvm::Value*> turned(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> vectors,
                                               bool on_gpu);

}  // namespace padlock::compiler
