#include "compiler/llvm/target/code_module.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

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

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace padlock::compiler
