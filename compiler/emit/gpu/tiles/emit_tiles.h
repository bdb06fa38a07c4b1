#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// Emits what thread number `thread` does of tile number `block` of a schedule with a transpose tile
/// (compiler/schedule/model/tiles.h). The numbers are indices. There is one barrier, which all threads of a block
/// come to: it stands in no loop, and under no condition.
void emit_transpose_tile(const VectorContext& vector, llvm::Value* block, llvm::Value* thread);

/// Returns the bytes of a block's memory for a device that runs its threads in a loop: the arrays, then a stamp for
/// each element of them, which says who wrote it.
[[nodiscard]] int stamped_bytes(const TransposeTile& tile);

}  // namespace padlock::compiler
