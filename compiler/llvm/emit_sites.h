#pragma once

#include "compiler/llvm/emit_row.h"

namespace padlock::compiler {

/// Emits what thread number `thread` of a team does of the row whose outer coordinates the expressions have, in the
/// columns that `rows` was told last. The code of a body stands there once, however many segments of however many cases
/// it serves: the runs of a case are numbered, and a loop over them looks up what the body is told. All are borrowed.
void emit_sites(KernelContext& context, llvm::IRBuilder<>& builder, const LaunchFields& fields, ExprEmitter& exprs,
                RowEmitter& rows, llvm::Value* thread);

}  // namespace padlock::compiler
