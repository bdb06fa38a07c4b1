#pragma once

#include <cstdint>
#include <string>

#include "padlock/padlock.hpp"

// The one context of a process, made at first use. A forked child continues with its parent's.
namespace padlock::python {

struct Settings {
  int threads = 0;                 // 0: as many as the process's CPUs
  std::string cache = "read";      // off, read, read-write, require
  std::string cache_file, worker;  // empty: the user's cache, and the worker beside the library
};

/// Returns the context. Errors: those of padlock_context_create. Precondition, as for all functions here: the GIL is
/// held.
[[nodiscard]] const Context& process_context();
/// Returns how often the context was replaced. Objects of an older one are made again.
[[nodiscard]] std::uint64_t process_generation();

/// Reports a dropped kernel. The context keeps the code of some dropped kernels, in case the same program is asked
/// for again, and releases it when there are many.
void forget_kernel();
/// Releases code of dropped kernels and unused memory of results. Returns the number of kernels.
std::int64_t trim();

/// Makes the next context with these settings.
void configure(Settings settings);

}  // namespace padlock::python
