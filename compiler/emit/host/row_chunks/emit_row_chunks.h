#pragma once

#include "compiler/emit/host/row_chunks/chunk_plan.h"

namespace padlock::compiler {

/// Emits i64 taker(launch, first, units, elements, base of each load), which takes rows by the launch's plan: the first
/// of so many units that follow each other, of which the first begins `first` elements after the output's first and
/// `elements` before the end of the task. Returns how many rows it took. Precondition of a call: there is a plan, of
/// some vectors.
[[nodiscard]] llvm::Function* emit_row_chunks(KernelContext& context, const RowChunks& chunks,
                                              const RowChunkPlan& plan);

}  // namespace padlock::compiler
