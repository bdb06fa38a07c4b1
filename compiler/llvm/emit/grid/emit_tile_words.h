#pragma once

#include <vector>

#include "compiler/llvm/emit/grid/emit_segments.h"
#include "compiler/llvm/emit/grid/tile_memory.h"

namespace padlock::compiler {

/// Emits a thread's share of a transpose tile by words, where all of the tile is the output's: many loads before the
/// first store, and no question between them. Each emitter's code goes to `otherwise`, before it has done anything,
/// where the tile has to go element by element, else to `done`.
class TileWords {
 public:
  /// `thread`: whose code it is. Borrows all.
  TileWords(const VectorContext& vector, SegmentEmitter& segments, TileMemory& memory, llvm::Value* thread)
      : vector_(vector),
        builder_(vector.builder),
        tile_(*vector.schedule().tile),
        accesses_(builder_, vector.fields.fault),
        rows_(vector.context, builder_, vector.exprs),
        segments_(segments),
        memory_(memory),
        thread_(thread) {}

  void load_buffers() { rows_.load_buffers(vector_.fields); }
  /// Before the barrier: of a tile that is one segment's.
  void emit_loads(llvm::BasicBlock* otherwise, llvm::BasicBlock* done);
  /// After it.
  void emit_stores(llvm::ArrayRef<llvm::Value*> outputs, llvm::BasicBlock* otherwise, llvm::BasicBlock* done);

 private:
  /// One load of a body, at the first column of the thread.
  struct Start {
    llvm::Value* element = nullptr;
    llvm::Value* step = nullptr;  // elements to the next column
  };
  [[nodiscard]] ir::Expr of_round(ir::Expr e, ir::Expr variable, int round) const;
  [[nodiscard]] llvm::Value* place(ir::Expr row, ir::Expr column);
  [[nodiscard]] llvm::Value* past_word(llvm::Value* pointer, ir::DType dtype, llvm::Value* element);
  [[nodiscard]] llvm::Value* elements_of(llvm::Value* bytes, ir::DType dtype);
  [[nodiscard]] llvm::Value* is_multiple(llvm::Value* pointer, ir::DType dtype, llvm::Value* element,
                                         llvm::Value* step);
  void load_body(std::size_t body, BodyArguments arguments, llvm::BasicBlock* otherwise, llvm::BasicBlock* done);
  [[nodiscard]] llvm::Value* words_are_inside(const std::vector<Start>& starts, const BodyArguments& arguments);
  void load_blocks(std::size_t body, const BodyArguments& arguments, const std::vector<Start>& starts, bool shifted);
  void store_block(int result, int round, llvm::ArrayRef<llvm::Value*> columns);
  [[nodiscard]] llvm::Value* load_word(std::size_t body, std::size_t load, const BodyArguments& arguments,
                                       llvm::Value* element, bool shifted);
  template <class Emit>
  void in_rounds(ir::Expr variable, int rounds, int words, Emit&& emit);
  [[nodiscard]] Start moved_by(const Start& start, llvm::Value* rounds, int steps);
  void store_words(llvm::ArrayRef<llvm::Value*> outputs, const Start& start, bool shifted);
  void store_shifted(llvm::ArrayRef<llvm::Value*> outputs, std::size_t result, llvm::Value* element, llvm::Value* value,
                     llvm::Value* word);
  [[nodiscard]] StoreHint hint() const;
  [[nodiscard]] Access output_access(llvm::ArrayRef<llvm::Value*> outputs, std::size_t result, llvm::Value* element,
                                     int elements);
  [[nodiscard]] llvm::Value* copied_word(int round);
  [[nodiscard]] llvm::Type* word_type(ir::DType dtype) const;
  [[nodiscard]] Access word_access(llvm::Value* pointer, ir::DType dtype, llvm::Value* element) const;
  [[nodiscard]] llvm::Value* element_at(const Start& start, std::int64_t columns);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  const TransposeTile& tile_;
  AccessEmitter accesses_;
  RowEmitter rows_;
  SegmentEmitter& segments_;
  TileMemory& memory_;
  llvm::Value* thread_;
};

}  // namespace padlock::compiler
