#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <llvm/IR/Module.h>

#include "compiler/llvm/emit/emit_host.h"
#include "compiler/prover/proven_kernel.h"

namespace padlock::compiler {

/// GpuModules names the modules that variants of kernels are added to, so that LLVM can be at all of them at once. All
/// may be one.
struct GpuModules {
  /// Positions in a list of them.
  enum Position : std::uint8_t { kUsual, kSmall, kIndex, kOffset, kCount };
  llvm::Module& usual;   ///< for variants that launches of usual sizes take
  llvm::Module& small;   ///< for those of them that take one vector a thread
  llvm::Module& index;   ///< for those for axes whose indices do not fit 32 bits
  llvm::Module& offset;  ///< for those for tensors whose offsets do not
};

/// Adds the functions of one kernel for a GPU, and returns the launch contracts of its variants, as emit_host_kernel
/// does. Where the target takes words, each has a kernel of the
/// contract's name; else a HostEntry, whose rows are blocks: the same code with the thread as a loop variable, for the
/// host.
[[nodiscard]] std::vector<abi::KernelAbi> emit_gpu_kernel(GpuModules modules, const ProvenKernel& kernel,
                                                          const TargetFeatures& target, bool bounds_check);

}  // namespace padlock::compiler
