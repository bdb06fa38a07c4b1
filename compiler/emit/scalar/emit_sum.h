#pragma once

#include <span>
#include <vector>

#include "compiler/emit/scalar/emit_expr.h"
#include "compiler/emit/scalar/target_features.h"
#include "compiler/kernel/kernel.h"

namespace padlock::compiler {

/// Emits a sum of `lanes` lanes over walks as loops, the last walk innermost, one term after the other. An only term
/// keeps its bits. f16 and bf16 are added in f32 and rounded once. `terms` emits the bits of the terms, in their order,
/// with the walks' variables set. Returns the bits of the sum.
[[nodiscard]] llvm::Value* emit_sum(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target,
                                    ir::DType dtype, int lanes, std::span<const Walk> walks,
                                    llvm::function_ref<std::vector<llvm::Value*>()> terms);
/// Emits the loops alone, with the code of `each`, with the walks' variables set.
void emit_walks(llvm::IRBuilder<>& builder, ExprEmitter& exprs, std::span<const Walk> walks,
                llvm::function_ref<void()> each);

}  // namespace padlock::compiler
