#pragma once

#include "compiler/emit/host/row_chunks/chunk_plan.h"

namespace padlock::compiler {

/// Emits i64 taker(launch, first, units, elements, base of each load), which takes rows by the launch's plan. `units`:
/// units that follow each other. The first of them begins `first` elements after the output's first, and `elements`
/// before the end of the task. Returns the number of rows taken. Precondition of a call: the plan has vectors.
[[nodiscard]] llvm::Function* emit_row_chunks(KernelContext& context, const RowChunks& chunks,
                                              const RowChunkPlan& plan);

}  // namespace padlock::compiler
