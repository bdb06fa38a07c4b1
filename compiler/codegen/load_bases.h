#pragma once

#include <llvm/Pass.h>

namespace padlock::compiler {

/// Makes the pass that takes loads off rbp, for after registers are allocated and before a frame is laid out. It
/// renames two registers that calls leave alone, which changes no instruction else.
[[nodiscard]] llvm::Pass* make_load_bases_pass();

}  // namespace padlock::compiler
