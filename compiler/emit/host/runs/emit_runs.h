#pragma once

#include "compiler/emit/rows/kernel_function.h"

namespace padlock::compiler {

/// Emits whether stores go past the caches, as i1. StoreKind::automatic: if the results are too large for the caches.
/// Other kinds: always or never.
[[nodiscard]] llvm::Value* emit_is_nontemporal(const KernelContext& context, llvm::IRBuilder<>& builder,
                                               ExprEmitter& exprs);

/// Emits a body as a function of the host: void(launch, BodyArguments...).
[[nodiscard]] llvm::Function* emit_runs(KernelContext& context, std::size_t index);

}  // namespace padlock::compiler
