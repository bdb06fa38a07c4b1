#pragma once

#include "compiler/llvm/emit/grid/emit_segments.h"
#include "compiler/llvm/emit/grid/emit_vector_stores.h"

namespace padlock::compiler {

/// Emits a vector that lies in several segments or rows, or at an end of the output: in a loop over its parts, each of
/// which is of one segment and row, a body makes the part's lanes. `local`: its first element from the tile's first,
/// which may lie before the output; `left`: where the output ends.
void emit_edge_vector(const VectorContext& vector, SegmentEmitter& segments, VectorStores& stores, llvm::Value* local,
                      llvm::Value* left);

}  // namespace padlock::compiler
