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

/// Runs the short pipeline. The schedule emits final vectors and loops, so that only common subexpressions and empty
/// blocks are left to remove.
void simplify(llvm::Module& module, llvm::TargetMachine& machine);

/// Makes the pass that takes loads off rbp (load_bases.cpp). The pass runs after register allocation and before frame
/// layout. It swaps two callee-saved registers and changes nothing else.
[[nodiscard]] llvm::Pass* make_load_bases_pass();

/// Returns machine code (an object) or its text. Consumes the module's IR.
[[nodiscard]] Result<llvm::SmallVector<char>> generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                                                            llvm::CodeGenFileType type);

}  // namespace padlock::compiler
