#pragma once

#include "compiler/kernel/kernel.h"
#include "tests/compiler/seeded/mutation.h"

namespace padlock::compiler {

/// Seeds the mutation into a kernel whose axes are not merged yet, if it is a bug of kernels.
void edit_kernel(Kernel& kernel, Mutation mutation);

}  // namespace padlock::compiler
