#pragma once

#include <vector>

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// Emits the stores of a grid's vectors.
class VectorStores {
 public:
  explicit VectorStores(const VectorContext& vector)
      : vector_(vector), builder_(vector.builder), accesses_(builder_, vector.fields.fault) {}

  void load_buffers();

  /// The grid's phase, an index.
  [[nodiscard]] llvm::Value* phase() const { return phase_; }
  /// Returns a condition: all results have that phase, so that vectors of all are stored whole.
  [[nodiscard]] llvm::Value* together() const { return together_; }

  /// Stores vectors of all results, or elements, that begin at element `first`, which is not negative.
  void store_vector(llvm::Value* first, llvm::ArrayRef<llvm::Value*> results) {
    store(first, vector_.lanes(), results);
  }
  void store_element(llvm::Value* element, llvm::ArrayRef<llvm::Value*> results) { store(element, 1, results); }

 private:
  [[nodiscard]] llvm::Value* phase_of(std::size_t result);
  Access access_of(std::size_t result, llvm::Value* element, int elements);
  void store(llvm::Value* first, int elements, llvm::ArrayRef<llvm::Value*> results);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  AccessEmitter accesses_;
  std::vector<llvm::Value*> outputs_;
  llvm::Value *phase_ = nullptr, *together_ = nullptr;
};

}  // namespace padlock::compiler
