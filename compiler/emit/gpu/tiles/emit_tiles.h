#pragma once

#include <llvm/IR/IRBuilder.h>

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// Emits what thread `thread` does of tile `block` of a schedule with a transpose tile
/// (compiler/schedule/model/tiles.h). Both numbers are indices. All threads of a block reach the one barrier: it stands
/// in no loop and under no condition.
void emit_transpose_tile(const VectorContext& vector, llvm::Value* block, llvm::Value* thread);

/// Returns the bytes of a block's memory on a device that runs threads in a loop: the arrays, then a stamp for each of
/// their elements. A stamp says who wrote the element.
[[nodiscard]] int stamped_bytes(const TransposeTile& tile);

}  // namespace padlock::compiler
