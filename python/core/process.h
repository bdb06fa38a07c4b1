#pragma once

#include <cstdint>
#include <string>

#include "padlock/padlock.hpp"

// The one context of a process, made when it is first needed. A child that was forked goes on with its parent's.
namespace padlock::python {

struct Settings {
  int threads = 0;                 // 0: as many as the process may use
  std::string cache = "read";      // off, read, read-write, require
  std::string cache_file, worker;  // empty: the user's, and the one beside the library
};

/// The context. Errors: as padlock_context_create. The GIL is held, as for all here.
[[nodiscard]] const Context& process_context();
/// How often another context was configured: what was made in an older one serves no more.
[[nodiscard]] std::uint64_t process_generation();

/// Reports a dropped kernel. The context keeps the code of some dropped kernels, in case the same program is asked
/// for again, and releases it when there are many.
void forget_kernel();
/// Gives back what nobody uses: code of kernels that went, and memory of results. Returns how many kernels.
std::int64_t trim();

/// Makes the next context by these.
void configure(Settings settings);

}  // namespace padlock::python
