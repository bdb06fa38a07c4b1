#include "compiler/targets/revision.h"

#include <fmt/format.h>
#include <llvm-c/Core.h>

namespace padlock::compiler {

// Asked of the library, not of its headers: a shared LLVM is updated without building Padlock anew.
std::string llvm_version() {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

}  // namespace padlock::compiler
