#pragma once

#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/emit/gpu/gpu_variants.h"
#include "compiler/emit/scalar/target_features.h"
#include "compiler/prover/core/proven_kernel.h"

namespace padlock::compiler {

/// Adds the function of one variant of a kernel for a GPU, and returns its launch contract. If the target takes words,
/// the function is a kernel of the contract's name. Else it is a HostEntry whose rows are blocks: the same code with
/// the thread as a loop variable, for the host.
[[nodiscard]] abi::KernelAbi emit_gpu_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                             const GpuVariant& variant, const TargetFeatures& target,
                                             bool bounds_check);

/// Adds the kernel that abi/comparison.h describes and returns its contract, which has only a name and threads. If the
/// target takes no words, the kernel is a HostEntry: the sizes are the words, and rows are the launch's threads.
[[nodiscard]] abi::KernelAbi emit_comparison(llvm::Module& module, const TargetFeatures& target);

}  // namespace padlock::compiler
