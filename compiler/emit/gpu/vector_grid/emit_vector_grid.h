#pragma once

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// Emits what thread `thread` of block `block` does of a schedule with a grid of vectors; both are indices. The thread
/// loads its vectors that lie in one segment of one row, then stores them. The other vectors are edges. The threads of
/// a warp share the edges' elements: edges are few, and all of a warp would wait for each.
void emit_vectors(const VectorContext& vector, llvm::Value* block, llvm::Value* thread);

}  // namespace padlock::compiler
