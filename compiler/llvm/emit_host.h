#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/Module.h>

#include "compiler/prover/proven_kernel.h"
#include "ir/executable.h"

namespace padlock::compiler {

/// What code generation must know of the target.
struct TargetFeatures {
  std::string cpu;
  std::string features;  // "+avx2,-avx512f,..."
  bool f16c = false;
};

/// Adds the functions of one kernel to `module` and returns the launch contracts of its variants: the first assumes
/// nothing, a second is for the sizes that its guards admit. Each has an entry, a HostEntry, of the contract's name.
/// Accesses that the proof left to be checked are, and with `bounds_check` all.
[[nodiscard]] std::vector<ir::KernelAbi> emit_host_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                                          const TargetFeatures& target, bool bounds_check);

}  // namespace padlock::compiler
