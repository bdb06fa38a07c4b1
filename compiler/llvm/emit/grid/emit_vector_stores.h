#pragma once

#include <vector>

#include "compiler/llvm/emit/grid/emit_stream_body.h"

namespace padlock::compiler {

/// Emits the stores of a grid's vectors.
class VectorStores {
 public:
  explicit VectorStores(const VectorContext& vector)
      : vector_(vector), builder_(vector.builder), accesses_(builder_, vector.fields.fault) {}

  void load_buffers();
  /// A tile begins at element `origin` (i64), and has `left` elements at most.
  void enter_tile(llvm::Value* origin, llvm::Value* left);

  /// The grid's phase, i64.
  [[nodiscard]] llvm::Value* phase() const { return phase_; }
  /// Returns a condition: all results have that phase, so that vectors of all are stored whole.
  [[nodiscard]] llvm::Value* together() const { return together_; }

  /// Stores vectors of all results, whose first element is `local` from the tile's first: whole ones.
  void store_vector(llvm::Value* local, llvm::ArrayRef<llvm::Value*> results);
  /// The same for any, whole or in part.
  void store_edge(llvm::Value* local, llvm::ArrayRef<llvm::Value*> results);

 private:
  [[nodiscard]] llvm::Value* phase_of(std::size_t result);
  Access access_of(std::size_t result, llvm::Value* element, int elements);
  void store_elements(llvm::Value* local, llvm::ArrayRef<llvm::Value*> results);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  AccessEmitter accesses_;
  std::vector<llvm::Value*> outputs_;
  llvm::Value *phase_ = nullptr, *together_ = nullptr;
  llvm::Value *origin_ = nullptr, *left_ = nullptr;
};

}  // namespace padlock::compiler
