#pragma once

#include "compiler/emit/host/row_chunks/chunk_plan.h"

namespace padlock::compiler {

/// Functions i64(launch, first, units, elements, base of each load) that take rows by the launch's plan. `units`: units
/// that follow each other. The first of them begins `first` elements after the output's first, and `elements` before
/// the end of the task. Returns the number of rows taken. Preconditions of a call: the plan has vectors; of `streamed`:
/// it says that chunks are streamed.
struct RowChunkFunctions {
  llvm::Function* plain = nullptr;
  llvm::Function* streamed = nullptr;  ///< null for chunks that never are
};
[[nodiscard]] RowChunkFunctions emit_row_chunks(KernelContext& context, const RowChunks& chunks,
                                                const RowChunkPlan& plan);

}  // namespace padlock::compiler
