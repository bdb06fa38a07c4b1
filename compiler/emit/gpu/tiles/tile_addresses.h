#pragma once

#include "compiler/emit/gpu/vector_grid/thread_values.h"
#include "compiler/emit/scalar/emit_access.h"

namespace padlock::compiler {

/// The first of a thread's tile words in one tensor: its element, and the distance to the thread's other words.
struct TileStart {
  llvm::Value* element = nullptr;  ///< an offset
  llvm::Value* step = nullptr;     ///< elements to the next loaded column, or stored row: an offset
  bool has_sign = false;           ///< the step may be negative
  llvm::Value* pointer = nullptr;  ///< to the element, if others are counted from it

  /// `steps`: an index.
  [[nodiscard]] llvm::Value* moved_by(llvm::IRBuilder<>& builder, llvm::Value* steps) const {
    return builder.CreateAdd(element, builder.CreateMul(builder.CreateSExt(steps, step->getType()), step));
  }
  /// As moved_by, for steps that are not negative.
  [[nodiscard]] llvm::Value* moved_on(llvm::IRBuilder<>& builder, llvm::Value* steps) const {
    return builder.CreateAdd(element, builder.CreateMul(builder.CreateZExt(steps, step->getType()), step));
  }
};

/// The base of the emitters of a tile's code. Borrows all its members.
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

/// Emits the places of a tile's words in memory.
class TileAddresses : private TileEmitterBase {
 public:
  explicit TileAddresses(const VectorContext& vector) : TileEmitterBase(vector) {}

  [[nodiscard]] llvm::Type* word_type(ir::DType dtype) const;
  /// Counts the blocks that the threads load; a needed halo's blocks come last. Thread t takes blocks t, t + threads,
  /// ... on every path, so that threads on different paths cover all blocks.
  [[nodiscard]] llvm::Value* loaded_squares(llvm::Value* has_halo) const;
  /// Returns the block of this number in that count.
  [[nodiscard]] llvm::Value* loaded_square(llvm::Value* number) const;
  /// Returns the round of all threads in which block `number` is loaded: below 32.
  [[nodiscard]] llvm::Value* round_of(llvm::Value* number) const;
  /// Sets the coordinates to those of a position. Returns its column.
  llvm::Value* place(ir::Expr row, ir::Expr column);
  /// Returns the element of a result at the coordinates, with the step to the next row.
  [[nodiscard]] TileStart output_at();
  /// Converts an index to the type of an offset.
  [[nodiscard]] llvm::Value* offset(llvm::Value* index) const {
    return builder_.CreateSExt(index, vector_.context.offset_type());
  }
  /// Emits a start with this step. The step fits an index; multiplying a step without a sign takes one instruction.
  [[nodiscard]] TileStart start_of(llvm::Value* element, ir::Expr step) const {
    llvm::Value* value = vector_.exact(step);
    llvm::Type* type = vector_.context.offset_type();
    const bool has_sign = step.range().lo < 0;
    return {.element = element,
            .step = has_sign ? builder_.CreateSExt(value, type) : builder_.CreateZExt(value, type),
            .has_sign = has_sign};
  }
  /// Adds a pointer into a tensor to a start.
  void point(TileStart& start, llvm::Value* tensor, ir::DType dtype) {
    start.pointer = accesses_.address({.pointer = tensor, .dtype = dtype, .first = start.element});
  }
  /// Moves a start that has a pointer by `steps`, an index: one instruction for a constant.
  [[nodiscard]] TileStart moved(const TileStart& start, ir::DType dtype, llvm::Value* steps) const;
  /// Moves a start that has a pointer by a number of elements, i64.
  [[nodiscard]] TileStart moved_by_elements(const TileStart& start, ir::DType dtype, llvm::Value* elements) const;
  /// Returns a start at the first element of the word in memory that holds a start's element.
  [[nodiscard]] TileStart rounded(const TileStart& start, ir::DType dtype);
  /// Returns the access of the elements from a start's pointer on.
  [[nodiscard]] Access access_at(const TileStart& start, ir::DType dtype, int elements) const;
  /// An expression's value: `base`, an index, which may be another expression's value, plus the constant `by`.
  struct Displaced {
    llvm::Value* base = nullptr;
    std::int64_t by = 0;
  };
  [[nodiscard]] Displaced displaced(ir::Expr e, ir::Expr other) const;
  /// Emits the distance, an index, from an element back to the nearest address that is a multiple of `elements`
  /// elements.
  [[nodiscard]] llvm::Value* past(llvm::Value* pointer, ir::DType dtype, llvm::Value* element, int elements);
  [[nodiscard]] llvm::Value* past_of(llvm::Value* pointer, ir::DType dtype, int elements) const;
  /// Emits whether an element's address is a multiple of `elements` elements, and that of every element whole steps
  /// away.
  [[nodiscard]] llvm::Value* is_multiple(llvm::Value* pointer, ir::DType dtype, const TileStart& start, int elements);
};

/// Returns the expression with the variable replaced by itself plus `by`.
[[nodiscard]] ir::Expr with_later(ir::ExprContext& exprs, ir::Expr e, ir::Expr variable, std::int64_t by);

}  // namespace padlock::compiler
