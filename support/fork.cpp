#include "support/fork.h"

#include <pthread.h>

#include <atomic>
#include <ctime>
#include <mutex>
#include <utility>

namespace padlock {
namespace {

constexpr std::time_t kLongestWaitSeconds = 10;

/// Prefers the forking thread, so that threads which compile one program after another do not keep it waiting.
constexpr pthread_rwlock_t kFreshLock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

/// The number of this thread's guards.
constinit thread_local int depth = 0;

}  // namespace

/// Initialised with constants and never destroyed, so that nothing runs when the library is unloaded.
struct ForkGate {
  pthread_rwlock_t lock = kFreshLock;  // threads inside guards read it, a forking thread writes it
  // The three atomics are relaxed. They change in a forked child that has one thread, and its later threads see them.
  // Only the child reads `inside`.
  std::atomic<int> inside = 0;  // number of threads inside
  std::atomic<bool> refuses = false;
  std::atomic<std::uint64_t> generation = 0;
  std::mutex listening;               // only taken inside a guard
  ForkListener* listeners = nullptr;  // guarded by `listening`
  bool exclusive = false;             // the forking thread holds `lock` alone

  void enter() {
    ::pthread_rwlock_rdlock(&lock);
    inside.fetch_add(1, std::memory_order_relaxed);
  }
  void leave() {
    inside.fetch_sub(1, std::memory_order_relaxed);
    ::pthread_rwlock_unlock(&lock);
  }
  /// Runs in the parent before the fork. Takes the lock alone, unless the wait times out, or this thread itself is
  /// inside a guard.
  void before() {
    if (depth > 0) return;
    timespec until{};
    ::clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += kLongestWaitSeconds;
    exclusive = ::pthread_rwlock_timedwrlock(&lock, &until) == 0;
    if (!exclusive || refuses) return;
    for (ForkListener* one = listeners; one != nullptr; one = one->next_) one->before_fork_();
  }
  void in_parent() {
    if (std::exchange(exclusive, false)) ::pthread_rwlock_unlock(&lock);
  }
  void in_child() {
    generation.fetch_add(1, std::memory_order_relaxed);
    const int own = depth > 0 ? 1 : 0;
    if (!exclusive && inside > own) refuses = true;
    exclusive = false;
    lock = kFreshLock;  // the lock knows its writer by a thread number, which changed
    inside = 0;
    if (own == 1) enter();
  }
  void add(ForkListener& listener) {
    const std::lock_guard held(listening);
    listener.next_ = listeners;
    if (listeners != nullptr) listeners->previous_ = &listener;
    listeners = &listener;
  }
  void remove(ForkListener& listener) {
    const std::lock_guard held(listening);
    (listener.previous_ != nullptr ? listener.previous_->next_ : listeners) = listener.next_;
    if (listener.next_ != nullptr) listener.next_->previous_ = listener.previous_;
  }
};

namespace {

constinit ForkGate gate;

}  // namespace

void count_forks() {
  static constinit pthread_once_t once = PTHREAD_ONCE_INIT;
  ::pthread_once(&once,
                 [] { ::pthread_atfork([] { gate.before(); }, [] { gate.in_parent(); }, [] { gate.in_child(); }); });
}

std::uint64_t fork_generation() { return gate.generation.load(std::memory_order_relaxed); }

ForkGuard::ForkGuard() {
  if (depth++ > 0) return;
  count_forks();
  gate.enter();
}
ForkGuard::~ForkGuard() {
  if (--depth == 0) gate.leave();
}
bool ForkGuard::refuses() const { return gate.refuses.load(std::memory_order_relaxed); }
Status ForkGuard::status() const {
  if (!refuses()) return {};
  return failed_precondition(
      "expected a process whose parent forked while no other thread compiled or tuned, found one whose parent had such "
      "a thread, for which it did not wait any longer: fork before, or start the child with exec");
}

ForkPause::ForkPause() : depth_(std::exchange(depth, 0)) {
  if (depth_ > 0) gate.leave();
}
ForkPause::~ForkPause() {
  if (depth_ > 0) gate.enter();
  depth = depth_;
}

ForkListener::ForkListener(std::function<void()> before_fork) : before_fork_(std::move(before_fork)) {
  const ForkGuard inside;
  if (!inside.refuses()) gate.add(*this);
}
ForkListener::~ForkListener() {
  const ForkGuard inside;
  if (!inside.refuses()) gate.remove(*this);
}

}  // namespace padlock
