#pragma once

#include <vector>

#include "compiler/llvm/emit/grid/tile_addresses.h"
#include "compiler/llvm/emit/grid/tile_memory.h"

namespace padlock::compiler {

/// Emits what a thread does of a transpose tile whose results lie in shared memory after the barrier: stores of words,
/// each at a multiple of its size. Words that are not all the output's go element by element.
class TileStorer {
 public:
  /// `thread`: whose code it is. Borrows all.
  TileStorer(const VectorContext& vector, TileMemory& memory, llvm::Value* thread)
      : vector_(vector),
        builder_(vector.builder),
        tile_(vector.tile()),
        accesses_(builder_, vector.fields.fault),
        addresses_(vector),
        memory_(memory),
        thread_(thread) {}

  /// `has_halo`: whether a row may have a phase that is not 0.
  void emit(llvm::ArrayRef<llvm::Value*> outputs, llvm::Value* has_halo);
  /// Stores an element of a result.
  void store_element(std::size_t result, llvm::Value* output, llvm::Value* element, llvm::Value* value);

 private:
  /// A word of a result that is stored.
  struct Word {
    std::size_t result = 0;
    llvm::Value* output = nullptr;
    llvm::Value* element = nullptr;  // the first
    llvm::Value* value = nullptr;
  };
  void store_words(llvm::ArrayRef<llvm::Value*> outputs, bool has_phases);
  [[nodiscard]] TileStart start_of_thread();
  [[nodiscard]] llvm::Value* phase_of(std::size_t result, llvm::Value* output, llvm::Value* element);
  [[nodiscard]] llvm::Value* load_word(std::size_t result, int round, bool has_phases);
  void store_parts(std::size_t result, llvm::Value* output);
  [[nodiscard]] llvm::Value* load_lane(std::size_t result, int lane);
  [[nodiscard]] llvm::Value* lanes_of(std::size_t result);
  void store_lanes(std::size_t result, llvm::Value* output, llvm::Value* first);
  void place_lane(int lane);
  void store(const Word& word);
  [[nodiscard]] StoreHint hint() const;

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  const TransposeTile& tile_;
  AccessEmitter accesses_;
  TileAddresses addresses_;
  TileMemory& memory_;
  llvm::Value* thread_;
};

}  // namespace padlock::compiler
