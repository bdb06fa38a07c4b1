#pragma once

#include <cstdint>
#include <functional>

#include "support/error.h"

// A fork copies one thread. What the others were at stays as it was: locks taken, lists half written. So a fork waits
// until no thread is at such work, and what has threads of its own asks whether they came along. Handlers of
// pthread_atfork do it, registered with the first use of this header's functions; the C library drops them when the
// library is unloaded.
namespace padlock {

/// Work that a fork waits for. Guards nest, and any number of threads may be inside. A fork waits ten seconds at most,
/// and not at all for guards of the thread that forks: if other threads are inside then, the child refuses.
class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  /// Error: failed_precondition in a child whose parent had other threads inside as it forked. Their locks are taken
  /// for good, so nothing may be touched.
  [[nodiscard]] Status status() const;
  [[nodiscard]] bool refuses() const;
};

/// Leaves the guards of this thread for as long as it lives: around a call of a function of the caller's, which may
/// wait for a thread that forks.
class ForkPause {
 public:
  ForkPause();
  ~ForkPause();
  ForkPause(const ForkPause&) = delete;
  ForkPause& operator=(const ForkPause&) = delete;

 private:
  int depth_;
};

/// Told of each fork, in the parent and before it, while no thread is inside a guard: to close what two processes must
/// not both have open. Not told where a fork does not wait.
class ForkListener {
 public:
  explicit ForkListener(std::function<void()> before_fork);
  ~ForkListener();
  ForkListener(const ForkListener&) = delete;
  ForkListener& operator=(const ForkListener&) = delete;

 private:
  friend struct ForkGate;
  std::function<void()> before_fork_;
  ForkListener* previous_ = nullptr;
  ForkListener* next_ = nullptr;
};

/// How many forks lie between this process and the one that loaded the library. Threads that were started in another
/// generation do not exist here.
[[nodiscard]] std::uint64_t fork_generation();
/// Has forks counted from here on.
void count_forks();

}  // namespace padlock
