#pragma once

#include <vector>

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// Emits the stores of a grid's or a box's vectors, which lie at multiples of their size in memory.
class VectorStores {
 public:
  explicit VectorStores(const VectorContext& vector)
      : vector_(vector), builder_(vector.builder), accesses_(builder_, vector.fields.fault) {}

  void load_buffers() {
    outputs_ = vector_.fields.results(builder_, vector_.context);
    phase_ = phase_of(0);
    together_ = builder_.getTrue();
    for (std::size_t i = 1; i < outputs_.size(); ++i)
      together_ = builder_.CreateAnd(together_, builder_.CreateICmpEQ(phase_of(i), phase_));
  }
  /// The grid's phase, an index.
  [[nodiscard]] Value* phase() const { return phase_; }
  /// Returns a condition: all results have the grid's phase, so that vectors of all results are stored whole.
  [[nodiscard]] Value* together() const { return together_; }
  /// Store a vector, or one element, of each result from element `first` on, which is not negative.
  void store_vector(Value* first, llvm::ArrayRef<Value*> results) { store(first, vector_.lanes(), results); }
  void store_element(Value* element, llvm::ArrayRef<Value*> results) { store(element, 1, results); }
  /// Stores `elements` elements of all results, an integer each, from an element at a multiple of their size on.
  void store_part(Value* element, int elements, llvm::ArrayRef<Value*> parts) {
    for (std::size_t i = 0; i < parts.size(); ++i)
      accesses_.store(access_of(i, element, elements), parts[i], StoreHint::none);
  }

 private:
  [[nodiscard]] Value* phase_of(std::size_t result) {
    const auto size = static_cast<std::uint64_t>(ir::byte_size(vector_.result_type(result)));
    Value* address = builder_.CreatePtrToInt(outputs_[result], builder_.getInt64Ty());
    Value* element = builder_.CreateUDiv(address, builder_.getInt64(size));
    Value* phase = builder_.CreateAnd(element, builder_.getInt64(static_cast<std::uint64_t>(vector_.lanes()) - 1));
    return builder_.CreateTrunc(phase, vector_.context.index_type());
  }

  Access access_of(std::size_t result, Value* element, int elements) {
    Value* first = builder_.CreateZExt(element, builder_.getInt64Ty());
    return vector_.checked(vector_.access_of(outputs_[result], vector_.result_type(result), first, elements), result);
  }

  void store(Value* first, int elements, llvm::ArrayRef<Value*> results) {
    const StoreHint hint = elements > 1 ? vector_.store_hint() : StoreHint::none;
    for (std::size_t i = 0; i < results.size(); ++i) accesses_.store(access_of(i, first, elements), results[i], hint);
  }

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  AccessEmitter accesses_;
  std::vector<Value*> outputs_;
  Value *phase_ = nullptr, *together_ = nullptr;
};

}  // namespace padlock::compiler
