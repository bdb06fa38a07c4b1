#pragma once

#include <cstdint>
#include <string>

#include "padlock/padlock.hpp"

// The one context of a process, made when it is first needed, and again in a child that was forked.
namespace padlock::python {

struct Settings {
  int threads = 0;                 // 0: as many as the process may use
  std::string cache = "read";      // off, read, read-write, require
  std::string cache_file, worker;  // empty: the user's, and the one beside the library
};

/// The context. Errors: as padlock_context_create. The GIL is held, as for all here.
[[nodiscard]] const Context& process_context();
/// How often there was another context: what was made in an older one serves no more.
[[nodiscard]] std::uint64_t process_generation();

/// Makes the next context by these.
void configure(Settings settings);
/// Forgets the context without touching it: its threads are the parent's, and so may be its locks.
void after_fork_in_child();

/// Keeps what belongs to a context of before a fork from being destroyed.
template <class T>
void leak(T&& object) {
  [[maybe_unused]] auto* const kept = new auto(std::forward<T>(object));
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it is what this is for

}  // namespace padlock::python
