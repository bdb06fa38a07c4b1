#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Target/TargetMachine.h>

#include "support/error.h"

namespace llvm {
class Pass;
}

namespace padlock::compiler {

/// The short pipeline: the schedule emits final vectors and loops, so that common subexpressions and empty blocks are
/// all that is left to do.
void simplify(llvm::Module& module, llvm::TargetMachine& machine);

/// Makes the pass that takes loads off rbp (load_bases.cpp), for after registers are allocated and before a frame is
/// laid out. It renames two registers that calls leave alone, which changes no instruction else.
[[nodiscard]] llvm::Pass* make_load_bases_pass();

/// Machine code (an object) or its text. Consumes the module's IR.
[[nodiscard]] Result<llvm::SmallVector<char>> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                                            llvm::CodeGenFileType type);

}  // namespace padlock::compiler
