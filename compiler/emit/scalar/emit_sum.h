#pragma once

#include <span>
#include <vector>

#include "compiler/emit/scalar/emit_expr.h"
#include "compiler/emit/scalar/target_features.h"
#include "compiler/kernel/kernel.h"

namespace padlock::compiler {

/// Emits a sum of so many lanes over walks as loops, the last walk innermost, one term after the other: the bits of the
/// first are kept where it is the only one; f16 and bf16 are added in f32 and rounded once. `terms` emits the
/// bits of those that are added, in their order, where the walks' variables have their values. Returns the bits of the
/// sum.
[[nodiscard]] llvm::Value* emit_sum(llvm::IRBuilder<>& builder, ExprEmitter& exprs, const TargetFeatures& target,
                                    ir::DType dtype, int lanes, std::span<const Walk> walks,
                                    llvm::function_ref<std::vector<llvm::Value*>()> terms);
/// Emits those loops alone, with what `each` emits where the walks' variables have their values.
void emit_walks(llvm::IRBuilder<>& builder, ExprEmitter& exprs, std::span<const Walk> walks,
                llvm::function_ref<void()> each);

}  // namespace padlock::compiler
