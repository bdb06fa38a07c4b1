#pragma once

#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "abi/compiled_code.h"
#include "support/error.h"

namespace padlock::compiler {

/// Makes an image of an ELF object for x86-64: places its code and constants behind each other and resolves what refers
/// from one to another, which is always relative to the place that refers. `kernels`: of each the contracts of its
/// variants, whose names are functions of the object. Errors: internal, for an object that imports anything, has data
/// that is written, or holds an absolute address.
[[nodiscard]] Result<abi::CompiledCode> link_image(const llvm::SmallVector<char>& object,
                                                   std::vector<std::vector<abi::KernelAbi>> kernels);

}  // namespace padlock::compiler
