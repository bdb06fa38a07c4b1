#pragma once

#include <vector>

#include <llvm/IR/IRBuilder.h>

namespace padlock::compiler {

/// Cuts a vector out of two that lie next to each other in memory.
class VectorShift {
 public:
  /// Vectors of `bytes`, a power of two, that are shifted by multiples of `granularity` bytes. Borrows the builder.
  VectorShift(llvm::IRBuilder<>& builder, unsigned bytes, int granularity)
      : builder_(builder), bytes_(bytes), granularity_(granularity) {}

  /// That in which they are loaded: words of 32 bits, as a GPU shifts them.
  [[nodiscard]] llvm::Type* type() const;
  /// The bytes from number `shift` (i32, below `bytes`) on, of `low` and then of `high`.
  [[nodiscard]] llvm::Value* shifted(llvm::Value* low, llvm::Value* high, llvm::Value* shift) const;

 private:
  llvm::IRBuilder<>& builder_;
  unsigned bytes_;
  int granularity_;
};

/// Emits the transpose of a square of elements: of n vectors of n elements, element j of vector i becomes element i of
/// vector j. `on_gpu`: bytes of words are chosen by the instruction that a GPU has for it.
[[nodiscard]] std::vector<llvm::Value*> turned(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> vectors,
                                               bool on_gpu);

}  // namespace padlock::compiler
