#include "compiler/codegen/code_module.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/codegen.h"
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

void simplify(CodeModule& code, std::size_t number, PassLog* log) {
  const bool is_shown = log != nullptr && log->wants_code();
  if (is_shown) log->code(/*simplified=*/false, number, text_of(*code.module));
  {
    const PassTimer timer(log, "simplify");
    simplify(*code.module, *code.machine);
  }
  if (is_shown) log->code(/*simplified=*/true, number, text_of(*code.module));
}

std::size_t instructions_of(const CodeModule& code) { return code.module->getInstructionCount(); }

namespace {

Status check(const std::string& program, std::size_t found, std::size_t most) {
  if (found <= most) return {};
  return beyond_limits(
      fmt::format("expected a program of at most {} instructions of LLVM's, found {} in '{}'", most, found, program));
}

}  // namespace

Status limit_emitted(const CodeModule& code, std::size_t others) {
  return check(code.module->getName().str(), others + instructions_of(code), limits::kEmittedInstructions);
}

Status limit_work(CodeModule& code, bool bounds_check) {
  std::size_t longest = 0;
  for (const llvm::Function& function : *code.module)
    longest = std::max<std::size_t>(longest, function.getInstructionCount());
  const std::size_t all = instructions_of(code);
  const bool optimises = longest <= limits::kOptimizedInstructions && all <= limits::kOptimizedModule;
  code.machine->setOptLevel(optimises ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None);
  return check(code.module->getName().str(), all, bounds_check ? limits::kCheckedInstructions : limits::kInstructions);
}

Status limit_gpu_work(const std::string& program, std::size_t in_all) {
  return check(program, in_all, limits::kGpuInstructions);
}

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace padlock::compiler
