#pragma once

#include <vector>

#include "compiler/emit/gpu/tiles/tile_addresses.h"
#include "compiler/emit/gpu/tiles/tile_memory.h"
#include "compiler/emit/gpu/vector_grid/emit_segments.h"

namespace padlock::compiler {

/// Emits what a thread does of a transpose tile before the barrier, by words. Precondition: one segment has all that
/// the tile needs. Many loads come before the first use of a value, without tests between them.
class TileLoader : private TileEmitterBase {
 public:
  /// `thread`: its number, whose code is emitted. Borrows all.
  TileLoader(const VectorContext& vector, SegmentEmitter& segments, TileMemory& memory, llvm::Value* thread)
      : TileEmitterBase(vector),
        addresses_(vector),
        rows_(vector.context, builder_, vector.exprs),
        segments_(segments),
        memory_(memory),
        thread_(thread) {}

  void load_buffers() { rows_.load_buffers(vector_.fields); }
  /// Goes to `otherwise` if blocks of the thread must go element by element, as where a word lies at an end of a
  /// tensor's storage. Else goes to `done`. Returns those blocks' rounds, a bit each, at the beginning of `otherwise`,
  /// where the builder then stands. `has_halo`: whether columns of the halo are needed.
  [[nodiscard]] llvm::Value* emit(llvm::Value* has_halo, llvm::BasicBlock* otherwise, llvm::BasicBlock* done);

 private:
  /// Blocks that a thread loads together: the distance of each from the first, in blocks, and its condition if it has
  /// one.
  struct Round {
    std::int64_t blocks = 0;
    llvm::Value* guard = nullptr;
  };
  /// One column of a block, which this thread loads for one segment after the other.
  struct CaseColumn {
    llvm::Value* column = nullptr;
    llvm::Value* made = nullptr;             // whether a segment had the column
    std::vector<llvm::Value*> results = {};  // of the segment that had it
  };
  void emit_whole(llvm::BasicBlock* otherwise, llvm::BasicBlock* done);
  [[nodiscard]] llvm::Value* load_case(const ScheduledCase& row);
  [[nodiscard]] llvm::Value* load_case_blocks(const ScheduledCase& row, llvm::Value* first, int together);
  void add_segment(const SegmentCall& call, std::vector<CaseColumn>& columns);
  [[nodiscard]] llvm::Value* load_case_word(std::size_t load, const SegmentCall& call, const BodyArguments& arguments,
                                            llvm::Value* column, llvm::Value*& inside);
  void load_body(std::size_t body, BodyArguments arguments, llvm::BasicBlock* otherwise, llvm::BasicBlock* done);
  [[nodiscard]] llvm::Value* words_are_inside(const std::vector<TileStart>& starts, const BodyArguments& arguments);
  [[nodiscard]] std::vector<Round> halo_rounds();
  void load_rounds(std::size_t body, const BodyArguments& arguments, const std::vector<TileStart>& starts,
                   bool shifted);
  void load_blocks(std::size_t body, const BodyArguments& arguments, const std::vector<TileStart>& starts,
                   const std::vector<Round>& rounds, bool shifted);
  [[nodiscard]] llvm::Value* rounded_up(llvm::Value* past);
  void store_block(int result, std::int64_t blocks, llvm::ArrayRef<llvm::Value*> columns);
  /// The words that are loaded for as many elements as a word has, from one element on.
  enum class Words : std::uint8_t {
    one,   ///< the element begins this word
    next,  ///< the word of the element, and the next, needed or not: a test would cost more
    last,  ///< the word of the element, and the word of the last element, often the same
  };
  [[nodiscard]] llvm::Value* load_word(std::size_t body, std::size_t load, const BodyArguments& arguments,
                                       const TileStart& start, llvm::Value* guard, Words words);
  [[nodiscard]] ir::DType dtype_of(std::size_t body, std::size_t load) const {
    return vector_.schedule().bodies[body].loads[load].dtype;
  }

  TileAddresses addresses_;
  RowEmitter rows_;
  SegmentEmitter& segments_;
  TileMemory& memory_;
  llvm::Value* thread_;
  llvm::Value* has_halo_ = nullptr;
};

}  // namespace padlock::compiler
