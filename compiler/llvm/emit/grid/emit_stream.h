#pragma once

#include "compiler/llvm/emit/grid/emit_stream_body.h"

namespace padlock::compiler {

/// Emits what thread number `thread` of block `block` of `blocks` does of a schedule with a grid of vectors. The
/// numbers are indices. A thread loads its vectors that lie in one segment of one row, then stores them. The others,
/// edges, it puts on the block's list, which the threads of a block go through after a barrier: few threads have an
/// edge, and all of a warp would wait for them.
void emit_vectors(const VectorContext& vector, llvm::Value* block, llvm::Value* thread, llvm::Value* blocks);

/// Returns the words of a block's list.
[[nodiscard]] inline int edge_words(const VectorGrid& grid) { return 1 + grid.threads * grid.vectors; }

}  // namespace padlock::compiler
