#pragma once

#include "compiler/pass_edits.h"
#include "tests/compiler/seeded/mutation.h"

namespace llvm {
class Module;
}

namespace padlock::compiler {

/// The edits that seed a bug, which live as long as the process; null for Mutation::none.
[[nodiscard]] const PassEdits* edits_of(Mutation mutation);

/// Tells whether a schedule's text differs wherever the bug is seeded: not of bugs in code, nor in a task's columns,
/// which the text leaves out.
[[nodiscard]] bool is_printed(Mutation mutation);

/// Returns whether the bug is in code that the prover does not read, and seeds it there.
[[nodiscard]] bool is_of_code(Mutation mutation);
void edit_code(llvm::Module& module, Mutation mutation);
void edit_barrier(llvm::Module& module, Mutation mutation);

}  // namespace padlock::compiler
