#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "compiler/emit/gpu/boxes/box_stages.h"

namespace padlock::compiler {

/// Emits copies into stages that have an input's elements in the output's order (BoxTurn). For each of some
/// columns a thread loads some words, whose elements are adjacent along the turned axis. For each of these elements it
/// then stores the columns.
class StageTurner {
 public:
  /// `thread`: its number in the block, an index.
  StageTurner(const VectorContext& vector, SharedMemory& memory, llvm::Value* thread)
      : vector_(vector),
        builder_(vector.builder),
        memory_(memory),
        accesses_(builder_, vector.fields.fault),
        thread_(thread) {}

  /// Emits values that all threads of a block share, once the coordinates of a box are set. Reads no memory.
  void locate();
  /// Emits this thread's share of the copy into a turned stage, before a barrier of the block.
  void copy(std::size_t stage, const StagedRun& run);

 private:
  /// A stage's ranges of coordinates in the tensor, by BoxAxis.
  struct Ranges {
    std::array<llvm::Value*, 3> origin, from, last;
    llvm::Value* first_word = nullptr;       ///< pointer to the aligned word that the tensor's first element lies in
    llvm::Value* past = nullptr;             ///< elements from there to it
    llvm::Value* from_first_word = nullptr;  ///< `fixed`, counted from `first_word`
    llvm::Value* all_pairs = nullptr;        ///< whether has_pairs holds for all words, if a word has several elements
    llvm::Value* some = nullptr;             ///< whether there is anything to copy
    llvm::Value* fixed = nullptr;            ///< the element at coordinate 0 of all three axes
    llvm::Value* aligned = nullptr;  ///< whether words begin at multiples of their size, and end where the tensor does
    llvm::Value* last_word = nullptr;      ///< if aligned: the coordinate across at which the last word begins
    llvm::Value* apart = nullptr;          ///< elements across from one word of a thread to the next
    llvm::Value* columns_apart = nullptr;  ///< columns from some adjacent ones of a thread to the next such
  };
  /// Words of a thread, `apart` from each other across, by the coordinates of the first word.
  struct Square {
    std::array<llvm::Value*, 3> at;
    llvm::Value* base = nullptr;  ///< the element at coordinate 0 of all three axes
  };

  [[nodiscard]] const BoxStage& stage_at(std::size_t i) const { return vector_.schedule().boxes()->stages[i]; }
  [[nodiscard]] const ir::Layout& layout_of(const BoxStage& stage) const {
    return vector_.schedule().kernel.graph.layout(stage.layout);
  }
  [[nodiscard]] llvm::Value* exact(Expr e) { return exact_at_launch(vector_, e); }
  [[nodiscard]] llvm::Value* stride(const BoxStage& stage, int axis);
  [[nodiscard]] llvm::Value* least(llvm::Value* a, llvm::Value* b);
  [[nodiscard]] llvm::Value* most(llvm::Value* a, llvm::Value* b);
  [[nodiscard]] llvm::Value* columns_after(std::size_t stage, int column);
  [[nodiscard]] llvm::Value* element_of(std::size_t stage, const Square& square, int column, int word,
                                        llvm::Value* lane, llvm::Value* last_word);
  [[nodiscard]] std::vector<llvm::Value*> load(std::size_t stage, const StagedRun& run, const Square& square);
  [[nodiscard]] std::vector<llvm::Value*> load_words(std::size_t stage, const StagedRun& run, const Square& square);
  [[nodiscard]] std::vector<llvm::Value*> load_elements(std::size_t stage, const StagedRun& run, const Square& square);
  [[nodiscard]] std::vector<llvm::Value*> load_pairs(std::size_t stage, const StagedRun& run,
                                                     llvm::ArrayRef<llvm::Value*> elements);
  [[nodiscard]] llvm::Value* has_pairs(std::size_t stage, const StagedRun& run, llvm::Value* first, llvm::Value* last);
  [[nodiscard]] llvm::Value* has_all_pairs(std::size_t stage, const StagedRun& run);
  void store(std::size_t stage, const StagedRun& run, const Square& square, llvm::ArrayRef<llvm::Value*> words);
  [[nodiscard]] llvm::Value* place_of(std::size_t stage, llvm::Value* at, llvm::Value* bytes, int word, int lane);
  void store_words(std::size_t stage, const StagedRun& run, llvm::Value* at, llvm::Value* bytes,
                   llvm::ArrayRef<llvm::Value*> words);
  void store_elements(std::size_t stage, const StagedRun& run, const Square& square, llvm::Value* at,
                      llvm::Value* bytes, llvm::ArrayRef<llvm::Value*> words);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  SharedMemory& memory_;
  AccessEmitter accesses_;
  llvm::Value* thread_;
  std::vector<Ranges> ranges_;
};

}  // namespace padlock::compiler
