#include "compiler/llvm/target/code_module.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "support/limits.h"

namespace padlock::compiler {

CodeModule::CodeModule(const std::string& name, MachineHandle target)
    : context(std::make_unique<llvm::LLVMContext>()),
      module(std::make_unique<llvm::Module>(name, *context)),
      machine(std::move(target)) {
  module->setDataLayout(machine->createDataLayout());
  module->setTargetTriple(machine->getTargetTriple());
}

Status CodeModule::verify() const {
#ifndef NDEBUG
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*module, &stream)) return internal_error("emitted LLVM IR is not valid: " + problem);
#endif
  return {};
}

namespace {

/// The instructions of all functions, and of the longest.
std::pair<std::size_t, std::size_t> instructions_of(const llvm::Module& module) {
  std::size_t all = 0, longest = 0;
  for (const llvm::Function& function : module) {
    const std::size_t own = function.getInstructionCount();
    all += own;
    longest = std::max(longest, own);
  }
  return {all, longest};
}

Status check(std::span<const CodeModule> modules, std::size_t found, std::size_t most) {
  if (found <= most) return {};
  return beyond_limits(fmt::format("expected a program of at most {} instructions of LLVM's, found {} in '{}'", most,
                                   found, modules.front().module->getName().str()));
}

}  // namespace

Status limit_emitted(std::span<const CodeModule> modules) {
  std::size_t all = 0;
  for (const CodeModule& code : modules) all += instructions_of(*code.module).first;
  return check(modules, all, limits::kEmittedInstructions);
}

Status limit_work(std::span<CodeModule> modules, bool bounds_check) {
  std::size_t host = 0, gpu = 0;
  for (CodeModule& code : modules) {
    const auto [all, longest] = instructions_of(*code.module);
    const bool is_host = code.machine->getTargetTriple().isX86();
    (is_host ? host : gpu) += all;
    if (!is_host) continue;  // its code generator never optimises
    const bool optimises = longest <= limits::kOptimizedInstructions && all <= limits::kOptimizedModule;
    code.machine->setOptLevel(optimises ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None);
  }
  PADLOCK_CHECK(check(modules, host, bounds_check ? limits::kCheckedInstructions : limits::kInstructions));
  return check(modules, gpu, limits::kGpuInstructions);
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace padlock::compiler
