#pragma once

#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/emit/scalar/target_features.h"

namespace padlock::compiler {

/// Adds the kernel that abi/comparison.h describes and returns its contract, which has a name and threads alone. Where
/// the target takes no words it is a HostEntry: the sizes are the words, and rows are the launch's threads.
[[nodiscard]] abi::KernelAbi emit_comparison(llvm::Module& module, const TargetFeatures& target);

}  // namespace padlock::compiler
