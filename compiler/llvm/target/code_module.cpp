#include "compiler/llvm/target/code_module.h"

#include <algorithm>

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

Status CodeModule::limit_work() {
  std::size_t longest = 0, all = 0;
  for (const llvm::Function& function : *module) {
    longest = std::max<std::size_t>(longest, function.getInstructionCount());
    all += function.getInstructionCount();
  }
  if (all > limits::kInstructions)
    return beyond_limits(fmt::format("expected a program of at most {} instructions of LLVM's, found {} in '{}'",
                                     limits::kInstructions, all, module->getName().str()));
  // The code generator for GPUs never optimises.
  if (!machine->getTargetTriple().isX86()) return {};
  const bool optimises = longest <= limits::kOptimizedInstructions && all <= limits::kOptimizedModule;
  machine->setOptLevel(optimises ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None);
  return {};
}

Status CodeModule::verify() const {
#ifndef NDEBUG
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  if (llvm::verifyModule(*module, &stream)) return internal_error("emitted LLVM IR is not valid: " + problem);
#endif
  return {};
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace padlock::compiler
