#pragma once

#include "compiler/emit/scalar/emit_expr.h"
#include "compiler/schedule/model/schedule.h"

namespace padlock::compiler {

/// Emits a coordinate as an element: the value of an index node at the coordinates that the expressions have, as i64.
[[nodiscard]] llvm::Value* emit_index(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const BodyNode& node);

/// Returns the values of `lanes` neighbouring columns from that of the first: of a node that is linear in the columns.
[[nodiscard]] llvm::Value* spread_index(llvm::IRBuilder<>& builder, ir::ExprContext& exprs, const Kernel& kernel,
                                        const BodyNode& node, llvm::Value* first, int lanes);

}  // namespace padlock::compiler
