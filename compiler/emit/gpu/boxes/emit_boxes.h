#pragma once

#include "compiler/emit/gpu/vector_grid/thread_values.h"

namespace padlock::compiler {

/// Emits the code of one thread of a box (compiler/schedule/model/boxes.h). The thread makes its share of the copies
/// into the stages and, after a barrier, its share of the output's vectors. `block` and `thread`: indices.
void emit_box(const VectorContext& vector, llvm::Value* block, llvm::Value* thread);

}  // namespace padlock::compiler
