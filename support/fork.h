#pragma once

#include <cstdint>
#include <functional>

#include "support/error.h"

// A fork copies one thread. Work of other threads stops half-done: locks stay taken, lists half-written. So a fork
// waits until no thread does such work, and owners of threads ask afterwards whether their threads still exist.
// Handlers of pthread_atfork do it, registered at the first use of this header's functions. The C library drops them
// when the library is unloaded.
namespace padlock {

/// Marks work for which a fork waits. Guards nest, and any number of threads may be inside. A fork waits at most ten
/// seconds, and not for guards of the forking thread: if other threads are still inside, the child refuses.
class ForkGuard {
 public:
  ForkGuard();
  ~ForkGuard();
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  /// Error: failed_precondition in a child whose parent had other threads inside during the fork. Their locks stay
  /// taken, so nothing may be touched.
  [[nodiscard]] Status status() const;
  [[nodiscard]] bool refuses() const;
};

/// Suspends this thread's guards during its lifetime: around a call of the caller's function, which may wait for a
/// thread that forks.
class ForkPause {
 public:
  ForkPause();
  ~ForkPause();
  ForkPause(const ForkPause&) = delete;
  ForkPause& operator=(const ForkPause&) = delete;

 private:
  int depth_;
};

/// Called before each fork, in the parent, while no thread is inside a guard: closes what two processes must not both
/// have open. Not called if the fork does not wait.
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

/// Returns the number of forks between this process and the one that loaded the library. Threads started in an earlier
/// generation do not exist here.
[[nodiscard]] std::uint64_t fork_generation();
/// Starts counting forks.
void count_forks();

}  // namespace padlock
