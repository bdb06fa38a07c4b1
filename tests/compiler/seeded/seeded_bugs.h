#pragma once

#include "compiler/pass_edits.h"
#include "tests/compiler/seeded/mutation.h"

namespace llvm {
class Module;
}

namespace padlock::compiler {

/// Returns the edits that seed a bug; they live as long as the process. Null for Mutation::none.
[[nodiscard]] const PassEdits* edits_of(Mutation mutation);

/// Returns whether a seeded bug changes the schedule's text. Bugs in code do not, nor bugs in a task's columns, which
/// the text leaves out.
[[nodiscard]] bool is_printed(Mutation mutation);

/// Returns whether the bug is in emitted code, which the prover does not read.
[[nodiscard]] bool is_of_code(Mutation mutation);
void edit_code(llvm::Module& module, Mutation mutation);
void edit_barrier(llvm::Module& module, Mutation mutation);

}  // namespace padlock::compiler
