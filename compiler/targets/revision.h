#pragma once

#include <string>

#include "abi/abi_revision.h"

// Revisions that a measured figure depends on, besides the program and the machine. A tuning record must match each.
namespace padlock::compiler {

/// Raised with each change to the code of some program, target and config. Measurements of other revisions do not
/// count.
inline constexpr int kCodeRevision = 47;
/// Revision of the launch contract.
using abi::kAbiRevision;

/// Returns the version of the LLVM that is loaded, "22.1.8".
[[nodiscard]] std::string llvm_version();

}  // namespace padlock::compiler
