#pragma once

#include "compiler/llvm/emit/emit_row_dispatch.h"

namespace padlock::compiler {

/// Emits what thread number `thread` of a team does of one row, whose outer coordinates the expressions have, in the
/// columns that `rows` was given last. Each body is emitted once, however many segments of however many cases it
/// serves: the runs of a case are numbered, and in a loop over them a switch selects the segment's arguments. All are
/// borrowed.
void emit_body_dispatch(KernelContext& context, llvm::IRBuilder<>& builder, const LaunchFields& fields,
                        ExprEmitter& exprs, RowEmitter& rows, llvm::Value* thread);

}  // namespace padlock::compiler
