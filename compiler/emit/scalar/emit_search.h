#pragma once

#include "compiler/emit/scalar/emit_expr.h"
#include "compiler/kernel/kernel.h"

namespace padlock::compiler {

/// Emits a search's loop for a number, i64. `looked_at` emits the entry at `middle`, i64, when the search's variable
/// has its value. Returns the final `low`, i64.
[[nodiscard]] llvm::Value* emit_search(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const Search& search,
                                       llvm::Value* wanted, llvm::function_ref<llvm::Value*()> looked_at);

}  // namespace padlock::compiler
