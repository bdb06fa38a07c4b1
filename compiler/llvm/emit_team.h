#pragma once

#include "compiler/llvm/emit_chunk.h"

namespace padlock::compiler {

/// Emits one body where the builder stands: what one thread, number `thread` of the team that shares the run, does of
/// the loops of its walks. The builder stands after it. All are borrowed but the arguments.
void emit_team_body(KernelContext& context, std::size_t body, llvm::IRBuilder<>& builder, const LaunchFields& fields,
                    ExprEmitter& exprs, BodyArguments arguments, llvm::Value* thread);

}  // namespace padlock::compiler
