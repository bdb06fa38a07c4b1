#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/llvm/target/machine_pool.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::compiler {

/// A module of its own context, with the contracts of the kernels that are emitted into it. Movable.
struct CodeModule {
  CodeModule(const std::string& name, MachineHandle target);
  CodeModule(CodeModule&&) = default;
  /// It would end a context before the module that lives in it.
  CodeModule& operator=(CodeModule&&) = delete;
  ~CodeModule() = default;

  /// Checks, in builds with assertions, that the IR is valid. Error: internal.
  [[nodiscard]] Status verify() const;

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  MachineHandle machine;
  std::vector<std::vector<abi::KernelAbi>> kernels;  // the variants of each, the one that assumes nothing first
};

/// Error (resource_exhausted): more than limits::kEmittedInstructions in a program's modules, before equal ones are
/// merged.
[[nodiscard]] Status limit_emitted(std::span<const CodeModule> modules);

/// Bounds the code generator's work on a program's modules, after `simplify`: a long one is not optimised, which takes
/// linear time. Error: resource_exhausted beyond limits::kInstructions, or kCheckedInstructions in code that tests
/// every access; for a GPU beyond limits::kGpuInstructions.
[[nodiscard]] Status limit_work(std::span<CodeModule> modules, bool bounds_check);

/// LLVM IR as text.
[[nodiscard]] std::string text_of(const llvm::Module& module);

}  // namespace padlock::compiler
