#pragma once

#include <span>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/llvm/emit/emit_expr.h"
#include "compiler/llvm/emit/target_features.h"

namespace padlock::compiler {

/// Emits sums over the same walks, each a vector of so many lanes, as loops that all share: the last walk innermost, in
/// each sum one term after the other. The bits of a term are kept where it is the only one; f16 and bf16 are added in
/// f32 and rounded once. `terms(sum)` emits the bits of those that are added to one of them, in their order, where the
/// walks' variables have their values. Returns the bits of the sums.
[[nodiscard]] std::vector<llvm::Value*> emit_sums(llvm::IRBuilder<>& builder, ExprEmitter& exprs,
                                                  const TargetFeatures& target, ir::DType dtype, int lanes,
                                                  std::size_t count, std::span<const Walk> walks,
                                                  llvm::function_ref<std::vector<llvm::Value*>(std::size_t sum)> terms);

}  // namespace padlock::compiler
