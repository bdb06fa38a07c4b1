#pragma once

#include <string>

#include "support/error.h"

namespace padlock::bench {

/// Private memory, in KiB: pages that a process shares with no other.
struct MemoryUse {
  double idle_context = 0;      ///< a context of one thread that has compiled and holds nothing
  double compiled_variant = 0;  ///< a kernel that is held, beyond the first
};

/// Measures this process, through the C API. Meant for one that has done nothing else. Errors: as the C API's, and
/// unavailable where the system does not say it.
[[nodiscard]] Result<MemoryUse> memory_use();
/// The same of a process of its own: `self` is a program that prints both for "--memory". Error: unavailable where it
/// cannot be run.
[[nodiscard]] Result<MemoryUse> memory_use_of(const std::string& self);

}  // namespace padlock::bench
