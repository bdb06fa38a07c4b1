#pragma once

#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/scalar/emit_access.h"

namespace padlock::compiler {

/// One tensor's element at the first of a thread's words of a tile, and how far others of its words are from it.
struct TileStart {
  llvm::Value* element = nullptr;  ///< an offset
  llvm::Value* step = nullptr;     ///< elements to the next column that is loaded, or row that is stored: an offset
  bool has_sign = false;           ///< the step may be negative
  llvm::Value* pointer = nullptr;  ///< to the element, where others are counted from it

  /// `steps`: an index.
  [[nodiscard]] llvm::Value* moved_by(llvm::IRBuilder<>& builder, llvm::Value* steps) const {
    return builder.CreateAdd(element, builder.CreateMul(builder.CreateSExt(steps, step->getType()), step));
  }
  /// The same for steps that are not negative.
  [[nodiscard]] llvm::Value* moved_on(llvm::IRBuilder<>& builder, llvm::Value* steps) const {
    return builder.CreateAdd(element, builder.CreateMul(builder.CreateZExt(steps, step->getType()), step));
  }
};

/// The base of the emitters of a tile's code. Borrows all that it has.
class TileEmitterBase {
 protected:
  explicit TileEmitterBase(const VectorContext& vector)
      : vector_(vector),
        builder_(vector.builder),
        tile_(vector.tile()),
        accesses_(vector.builder, vector.fields.fault) {}
  ~TileEmitterBase() = default;

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  const TransposeTile& tile_;
  AccessEmitter accesses_;
};

/// Emits where words of a tile lie in memory.
class TileAddresses : private TileEmitterBase {
 public:
  explicit TileAddresses(const VectorContext& vector) : TileEmitterBase(vector) {}

  [[nodiscard]] llvm::Type* word_type(ir::DType dtype) const;
  /// Counts the blocks that the threads load, those of the halo last, if it is needed: thread t takes number t, t +
  /// threads, ..., whichever way it goes, so that threads that go different ways have all blocks.
  [[nodiscard]] llvm::Value* loaded_squares(llvm::Value* has_halo) const;
  /// Returns the block that has this number of those.
  [[nodiscard]] llvm::Value* loaded_square(llvm::Value* number) const;
  /// Returns in which round of all threads it is loaded: below 32.
  [[nodiscard]] llvm::Value* round_of(llvm::Value* number) const;
  /// Gives the coordinates those of a position. Returns its column.
  llvm::Value* place(ir::Expr row, ir::Expr column);
  /// Returns the elements of a result at the coordinates, with the step to the next row.
  [[nodiscard]] TileStart output_at();
  /// Makes an index a part of an offset.
  [[nodiscard]] llvm::Value* offset(llvm::Value* index) const {
    return builder_.CreateSExt(index, vector_.context.offset_type());
  }
  /// Emits a step of a start: it fits an index, and what has no sign is multiplied in one instruction.
  [[nodiscard]] TileStart start_of(llvm::Value* element, ir::Expr step) const {
    llvm::Value* value = vector_.exact(step);
    llvm::Type* type = vector_.context.offset_type();
    const bool has_sign = step.range().lo < 0;
    return {.element = element,
            .step = has_sign ? builder_.CreateSExt(value, type) : builder_.CreateZExt(value, type),
            .has_sign = has_sign};
  }
  /// Makes a start that has a pointer into a tensor.
  void point(TileStart& start, llvm::Value* tensor, ir::DType dtype) {
    start.pointer = accesses_.address({.pointer = tensor, .dtype = dtype, .first = start.element});
  }
  /// Moves such a start, pointer and all, by so many steps, an index: one instruction where they are a constant.
  [[nodiscard]] TileStart moved(const TileStart& start, ir::DType dtype, llvm::Value* steps) const;
  /// Moves a start that has a pointer by so many elements, i64.
  [[nodiscard]] TileStart moved_by_elements(const TileStart& start, ir::DType dtype, llvm::Value* elements) const;
  /// Returns a start at the element that begins the word in memory that has a start's element.
  [[nodiscard]] TileStart rounded(const TileStart& start, ir::DType dtype);
  /// Returns the access of the elements from that on which a start points to.
  [[nodiscard]] Access access_at(const TileStart& start, ir::DType dtype, int elements) const;
  /// An expression that may differ from another by a constant: the other's value, an index, and the constant.
  struct Displaced {
    llvm::Value* base = nullptr;
    std::int64_t by = 0;
  };
  [[nodiscard]] Displaced displaced(ir::Expr e, ir::Expr other) const;
  /// Elements that one is past a multiple of so many in memory, an index.
  [[nodiscard]] llvm::Value* past(llvm::Value* pointer, ir::DType dtype, llvm::Value* element, int elements);
  [[nodiscard]] llvm::Value* past_of(llvm::Value* pointer, ir::DType dtype, int elements) const;
  /// Emits whether an element is such a multiple, and so are all that lie whole steps from it.
  [[nodiscard]] llvm::Value* is_multiple(llvm::Value* pointer, ir::DType dtype, const TileStart& start, int elements);
};

/// Returns an expression with the variable so much greater.
[[nodiscard]] ir::Expr with_later(ir::ExprContext& exprs, ir::Expr e, ir::Expr variable, std::int64_t by);

}  // namespace padlock::compiler
