#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/prover/proven_kernel.h"

namespace padlock::compiler {

/// Properties of the target that code generation needs.
struct TargetFeatures {
  std::string cpu;
  std::string features;           ///< "+avx2,-avx512f,..."
  bool f16c = false;              ///< converts f16 in hardware
  unsigned global_space = 0;      ///< LLVM's address space of buffers
  bool aligned_elements = false;  ///< pointers are multiples of their element sizes: a launch checks it
  std::int64_t cache_bytes = std::int64_t{32} << 20;  ///< of the last cache before memory
  bool takes_words = false;  ///< a launch is an array of words, not a HostLaunch (see LaunchFields)
};

/// Sets, at the entry of a function that computes, round to nearest even, no flush to zero, no denormals-are-zero,
/// whatever the caller has set. Returns where the caller's setting is kept.
[[nodiscard]] llvm::Value* save_environment(llvm::IRBuilder<>& builder);
void restore_environment(llvm::IRBuilder<>& builder, llvm::Value* slot);

/// Adds the functions of one kernel to `module` and returns the launch contracts of its variants: the first assumes
/// nothing, a second is for the sizes that its guards admit. Each has an entry, a HostEntry, of the contract's name.
/// Accesses that the proof left to be checked are, and with `bounds_check` all.
[[nodiscard]] std::vector<abi::KernelAbi> emit_host_kernel(llvm::Module& module, const ProvenKernel& kernel,
                                                           const TargetFeatures& target, bool bounds_check);

}  // namespace padlock::compiler
