#pragma once

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// Emits what thread number `thread` of block `block` does of a schedule with a grid of vectors: the tile of that
/// number. The numbers are indices. A thread loads its vectors that lie in one segment of one row, then stores them.
/// The elements of the others, edges, are shared out among the threads of its block: few vectors are edges, and all of
/// a warp would wait for them.
void emit_vectors(const VectorContext& vector, llvm::Value* block, llvm::Value* thread);

}  // namespace padlock::compiler
