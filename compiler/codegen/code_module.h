#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "abi/kernel_abi.h"
#include "compiler/codegen/machine_pool.h"
#include "compiler/pass_log.h"
#include "ir/program.h"
#include "support/error.h"

namespace padlock::compiler {

/// A module with its own context, and the contracts of the kernels emitted into it. Movable.
struct CodeModule {
  CodeModule(const std::string& name, MachineHandle target);
  CodeModule(CodeModule&&) = default;
  /// Deleted: the assignment would destroy the old context before the module that lives in it.
  CodeModule& operator=(CodeModule&&) = delete;
  ~CodeModule() = default;

  /// Checks, in builds with assertions, that the IR is valid. Error: internal.
  [[nodiscard]] Status verify() const;

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  MachineHandle machine;
  std::vector<std::vector<abi::KernelAbi>> kernels;  // the variants of each kernel; the first assumes nothing
};

/// Simplifies the module (codegen.h). Shows it to `log`, which may be null, before and after. `number`: the module's
/// position in its program.
void simplify(CodeModule& code, std::size_t number, PassLog* log);

/// Returns the number of instructions in all functions.
[[nodiscard]] std::size_t instructions_of(const CodeModule& code);

/// Error (resource_exhausted): more than limits::kEmittedInstructions in a program's modules, before equal instructions
/// are merged. `others`: instructions of the modules that were emitted earlier.
[[nodiscard]] Status limit_emitted(const CodeModule& code, std::size_t others = 0);

/// Bounds the code generator's work on a CPU's module, after `simplify`. A long module is not optimised, so that its
/// time stays linear. Error: resource_exhausted beyond limits::kInstructions, or kCheckedInstructions in code that
/// tests every access.
[[nodiscard]] Status limit_work(CodeModule& code, bool bounds_check);

/// Error (resource_exhausted): more than limits::kGpuInstructions in all modules of a program for a GPU, after
/// `simplify`. `program`: its name. `in_all`: instructions of all its modules.
[[nodiscard]] Status limit_gpu_work(const std::string& program, std::size_t in_all);

/// Returns LLVM IR as text.
[[nodiscard]] std::string text_of(const llvm::Module& module);

}  // namespace padlock::compiler
