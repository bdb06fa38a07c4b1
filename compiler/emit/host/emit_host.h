#pragma once

#include <vector>

#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/emit/scalar/target_features.h"
#include "compiler/prover/core/proven_kernel.h"

namespace padlock::compiler {

/// Adds the functions of one kernel to `module` and returns the launch contracts of its variants. The first variant
/// assumes nothing; a second is for the sizes that its guards admit. Each variant has an entry, a HostEntry of the
/// contract's name. Accesses that the proof left to be checked are checked; with `bounds_check` all are.
[[nodiscard]] std::vector<abi::KernelAbi> emit_host_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                                           const TargetFeatures& target, bool bounds_check);

}  // namespace padlock::compiler
