#pragma once

#include <llvm/IR/IRBuilder.h>

#include "support/cpu/architecture.h"

// Instructions that each architecture of CPUs has by another name.
namespace padlock::compiler {

/// Emits a call of the intrinsic with these arguments, whose first type it is made for if it takes several.
llvm::Value* call_intrinsic(llvm::IRBuilder<>& builder, llvm::Intrinsic::ID intrinsic,
                            llvm::ArrayRef<llvm::Value*> arguments);

/// Sets the floating-point environment whatever the caller has set: round to nearest even, no flush to zero, no
/// denormals-are-zero, a NaN keeps its payload. Returns where the caller's setting is kept.
[[nodiscard]] llvm::Value* save_environment(llvm::IRBuilder<>& builder, Architecture architecture);
/// Sets what save_environment kept.
void restore_environment(llvm::IRBuilder<>& builder, Architecture architecture, llvm::Value* saved);

/// Orders non-temporal stores before all later stores.
void emit_store_fence(llvm::IRBuilder<>& builder, Architecture architecture);

/// Selects bytes within each block of 16. `index`: bytes below 16, as many as `vector` has.
[[nodiscard]] llvm::Value* shuffle_bytes(llvm::IRBuilder<>& builder, Architecture architecture, llvm::Value* vector,
                                         llvm::Value* index);

}  // namespace padlock::compiler
