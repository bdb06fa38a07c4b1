#pragma once

#include <vector>

#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/emit/scalar/target_features.h"
#include "compiler/prover/core/proven_kernel.h"

namespace padlock::compiler {

/// Adds the functions of one kernel to `module` and returns the launch contracts of its variants: the first assumes
/// nothing, a second is for the sizes that its guards admit. Each has an entry, a HostEntry, of the contract's name.
/// Accesses that the proof left to be checked are, and with `bounds_check` all.
[[nodiscard]] std::vector<abi::KernelAbi> emit_host_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                                           const TargetFeatures& target, bool bounds_check);

}  // namespace padlock::compiler
