#pragma once

#include "compiler/emit/rows/kernel_function.h"

namespace padlock::compiler {

/// Emits a body as a function of the host: void(launch, BodyArguments...).
[[nodiscard]] llvm::Function* emit_runs(KernelContext& context, std::size_t index);

}  // namespace padlock::compiler
