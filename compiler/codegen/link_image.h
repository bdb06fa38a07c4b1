#pragma once

#include <vector>

#include <llvm/ADT/SmallVector.h>

#include "abi/compiled_code.h"
#include "support/error.h"

namespace padlock::compiler {

/// Makes an image of an ELF object for a CPU (kArchitectures). Places code and constants one after another and resolves
/// the references between them, all of which are relative, if to a page: an image begins where a page does. `kernels`:
/// for each kernel the contracts of its variants, whose names are functions of the object. Errors: internal, for an
/// object that imports anything, has writable data, or holds an absolute address.
[[nodiscard]] Result<abi::CompiledCode> link_image(const llvm::SmallVector<char>& object,
                                                   std::vector<std::vector<abi::KernelAbi>> kernels);

}  // namespace padlock::compiler
