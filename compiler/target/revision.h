#pragma once

#include <string>

#include "abi/abi_revision.h"

// What a figure that was measured once stands on, besides the program and the machine. Each is part of what a tuning
// record must match.
namespace padlock::compiler {

/// Raised with each change that makes other code of the same program, target and config: what was measured before says
/// nothing of it.
inline constexpr int kCodeRevision = 7;
/// Of the launch contract.
using abi::kAbiRevision;

/// Of the LLVM that is loaded, "22.1.8".
[[nodiscard]] std::string llvm_version();

}  // namespace padlock::compiler
