#pragma once

#include "compiler/kernel/kernel.h"
#include "tests/compiler/seeded/mutation.h"

namespace padlock::compiler {

/// Seeds the mutation into a kernel whose axes are not merged yet, where it is one of a kernel's.
void edit_kernel(Kernel& kernel, Mutation mutation);

}  // namespace padlock::compiler
