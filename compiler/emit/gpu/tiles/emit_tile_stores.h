#pragma once

#include <vector>

#include "compiler/emit/gpu/tiles/tile_addresses.h"
#include "compiler/emit/gpu/tiles/tile_memory.h"

namespace padlock::compiler {

/// Emits what a thread does after the barrier of a transpose tile whose results lie in shared memory: it stores
/// vectors, each at a multiple of its size. Of a vector that is not all in the output, it stores elements.
class TileStorer : private TileEmitterBase {
 public:
  /// `thread`: its number, whose code is emitted. Borrows all.
  TileStorer(const VectorContext& vector, TileMemory& memory, llvm::Value* thread)
      : TileEmitterBase(vector), addresses_(vector), memory_(memory), thread_(thread) {}

  /// `has_halo`: whether a row may have a nonzero phase.
  void emit(llvm::ArrayRef<llvm::Value*> outputs, llvm::Value* has_halo);
  /// Stores an element of a result.
  void store_element(std::size_t result, llvm::Value* output, llvm::Value* element, llvm::Value* value);

 private:
  /// A stored vector of a result.
  struct Vector {
    std::size_t result = 0;
    TileStart start = {};  // its first element
    std::vector<llvm::Value*> words = {};
  };
  void emit_tile(llvm::ArrayRef<llvm::Value*> outputs, llvm::Value* has_halo);
  void enter_thread();
  template <class Trip>
  void for_rounds(llvm::ArrayRef<llvm::Value*> outputs, int together, Trip&& trip);
  void store_whole(llvm::ArrayRef<llvm::Value*> outputs, bool has_phases);
  void store_at_ends(llvm::ArrayRef<llvm::Value*> outputs);
  void store_at_end(const Vector& vector);
  [[nodiscard]] TileStart with_phase(std::size_t result, const TileStart& start);
  [[nodiscard]] std::vector<llvm::Value*> load_words(std::size_t result, int round, bool has_phases,
                                                     llvm::ArrayRef<llvm::Value*> needed);
  void store(const Vector& vector);
  void store_elements(const Vector& vector, llvm::ArrayRef<llvm::Value*> inside);
  void store(const Access& access, std::size_t result, llvm::Value* value);

  TileAddresses addresses_;
  TileMemory& memory_;
  llvm::Value* thread_;
};

}  // namespace padlock::compiler
