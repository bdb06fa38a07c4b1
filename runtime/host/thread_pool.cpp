#include "runtime/host/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <memory>
#include <new>
#include <system_error>

namespace padlock::runtime {

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

namespace {

// Some 20 us, more than the pause between two launches of a caller that runs kernels one after another. Such a caller
// need not pay for sleeping and waking. Not measured against other numbers yet.
constexpr int kSpins = 1000;

/// Leaves the core to its sibling thread for a moment, if the CPU has an instruction for it.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // waits some cycles; `yield` does nothing on cores of one thread
#endif
}

/// Spins until the condition holds, checking it at most `spins` times; returns whether it held.
template <class Condition>
bool spin_until(int times, Condition&& holds) {
  for (int i = 0; i < times; ++i) {
    if (holds()) return true;
    pause();
  }
  return false;
}

/// Keeps a worker off its caller's CPU. The kernel may wake a thread on the waker's CPU though others are idle, and
/// leave both there until a tick, 4 ms later. (Linux 6.18 does so on virtual machines, whose idle CPUs look preempted
/// by the host. Cropping 64 planes of 568x2272 bytes with two threads, 20 ms after the last launch: 4 to 7 ms without
/// this guard, 3 to 3.5 with it.) So a caller that woke a thread yields. A worker on its caller's CPU removes that CPU
/// from its affinity until its caller runs on another one.
class AffinityGuard {
 public:
  /// Moves the thread to another CPU if it runs on `cpu` and may leave.
  void avoid(int cpu) {
    if (cpu < 0 || ::sched_getcpu() != cpu) return;
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return;
    // Restore the CPU that it left before, unless other code has changed the set since.
    if (left_ >= 0 && CPU_EQUAL(&set, &set_) != 0) CPU_SET(left_, &set);
    CPU_CLR(cpu, &set);
    if (CPU_COUNT(&set) == 0 || ::sched_setaffinity(0, sizeof set, &set) != 0) return;
    left_ = cpu;
    set_ = set;
  }

 private:
  int left_ = -1;
  cpu_set_t set_{};  // the set as it was changed last
};

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads : usable_cpus()),
      spins_(threads_ <= usable_cpus() ? kSpins : 0),
      team_((count_forks(), new Team())) {}

ThreadPool::~ThreadPool() {
  Team* const last = team_.load();
  if (last->generation != fork_generation()) return;
  {
    const std::lock_guard lock(last->mutex);
    last->stopping = true;
    ++last->news;
  }
  last->wake.notify_all();
  for (std::thread& worker : last->workers) worker.join();
  delete last;
}

/// A forked child leaves its parent's team as it is. The lists may be half written and the lock taken; joining a thread
/// or destroying a condition variable would wait forever.
ThreadPool::Team& ThreadPool::team() const {
  Team* known = team_.load(std::memory_order_acquire);
  if (known->generation == fork_generation()) [[likely]]
    return *known;
  auto made = std::make_unique<Team>();
  if (!team_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *known;
  return *made.release();
}

int ThreadPool::started() const {
  Team& here = team();
  const std::lock_guard lock(here.mutex);
  return static_cast<int>(here.workers.size());
}

void ThreadPool::start_threads(Team& team) {
  if (team.started) return;
  team.started = true;
  team.workers.reserve(static_cast<std::size_t>(threads_ - 1));
  try {
    while (static_cast<int>(team.workers.size()) < threads_ - 1)
      team.workers.emplace_back([this, &team] { work(team); });
  } catch (const std::system_error&) {
    return;  // no more threads from the system: the existing ones, or the caller alone, do the work
  }
}

void ThreadPool::Team::link(Job& job) {
  job.following = jobs;
  if (jobs != nullptr) jobs->previous = &job;
  jobs = &job;
  ++news;
}

void ThreadPool::Team::unlink(Job& job) {
  if (!job.linked) return;
  job.linked = false;
  (job.previous != nullptr ? job.previous->following : jobs) = job.following;
  if (job.following != nullptr) job.following->previous = job.previous;
}

void ThreadPool::run_indices(Job& job) {
  for (;;) {
    const std::int64_t index = job.next.fetch_add(1, std::memory_order_relaxed);
    if (index >= job.count) return;
    job.body(job.state, index);
  }
}

void ThreadPool::work(Team& team) const {
  AffinityGuard other;
  std::unique_lock lock(team.mutex);
  for (;;) {
    while (team.jobs == nullptr && !team.stopping) {
      if (spin_for_work(team, lock)) continue;
      ++team.asleep;
      team.wake.wait(lock);
      --team.asleep;
    }
    if (team.jobs == nullptr) return;
    Job& job = *team.jobs;
    ++job.workers;
    lock.unlock();
    other.avoid(job.cpu);
    run_indices(job);
    lock.lock();
    team.unlink(job);                                // no index remains
    if (--job.workers == 0) team.done.notify_all();  // the caller, and its job, may be gone after this
  }
}

/// Spins without the lock. Returns whether there may be work; if not, no news has come when the lock is held again.
bool ThreadPool::spin_for_work(Team& team, std::unique_lock<std::mutex>& lock) const {
  const std::uint32_t known = team.news;
  lock.unlock();
  const bool came = spin_until(spins_, [&] { return team.news.load(std::memory_order_relaxed) != known; });
  lock.lock();
  return came || team.news != known;
}

void ThreadPool::wake(Team& team, std::int64_t workers) const {
  if (workers == 0) return;
  if (workers >= threads_ - 1) {
    team.wake.notify_all();
  } else {
    for (std::int64_t i = 0; i < workers; ++i) team.wake.notify_one();
  }
  ::sched_yield();  // see AffinityGuard
}

void ThreadPool::parallel_for(std::int64_t count, ParallelBody body, void* state) {
  if (count <= 1 || threads_ == 1) {
    for (std::int64_t i = 0; i < count; ++i) body(state, i);
    return;
  }
  Team& here = team();
  Job job{.body = body, .state = state, .count = count, .cpu = ::sched_getcpu()};
  std::int64_t asleep = 0;
  {
    const std::lock_guard lock(here.mutex);
    start_threads(here);
    here.link(job);
    asleep = here.asleep;
  }
  wake(here, std::min(asleep, count - 1));
  run_indices(job);
  {
    const std::lock_guard lock(here.mutex);
    here.unlink(job);
  }
  // No worker enters any more, and the last to leave does not touch the job again.
  if (spin_until(spins_, [&job] { return job.workers.load(std::memory_order_acquire) == 0; })) return;
  std::unique_lock lock(here.mutex);
  here.done.wait(lock, [&job] { return job.workers == 0; });
}

ParallelFor ThreadPool::as_parallel_for() {
  return {.run = [](void* user, std::int64_t count, ParallelBody body,
                    void* state) { static_cast<ThreadPool*>(user)->parallel_for(count, body, state); },
          .user = this,
          .threads = threads_};
}

}  // namespace padlock::runtime
