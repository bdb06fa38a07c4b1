#pragma once

#include "compiler/emit/gpu/vector_grid/shared_memory.h"
#include "compiler/emit/rows/emit_row_dispatch.h"

namespace padlock::compiler {

/// Emits accesses of a grid's table of rows (RowTable): a block's threads write it, then each vector reads the values
/// of its row.
class RowValues {
 public:
  /// Borrows both.
  RowValues(const VectorContext& vector, RowEmitter& rows);

  /// Emits which rows the block has, of a launch of so many elements (an index). The grid's block and phase are set.
  void locate(llvm::Value* elements);
  /// Emits this thread's share of the rows. `thread`: its number in the block, an index. The buffers are loaded.
  void write(llvm::Value* thread);
  /// Gives the expressions the values of a row of the block, an index.
  void read(llvm::Value* row);

 private:
  void write_values(llvm::Value* row);
  [[nodiscard]] llvm::Value* row_of(ir::Expr element);
  [[nodiscard]] llvm::Value* place_of(llvm::Value* row);

  const VectorContext& vector_;
  llvm::IRBuilder<>& builder_;
  const RowTable& table_;
  RowEmitter& rows_;
  SharedMemory memory_;
  llvm::Value *first_ = nullptr, *last_ = nullptr;  // rows of the block
};

}  // namespace padlock::compiler
