#include "runtime/host/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

namespace padlock::runtime {

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

namespace {

// Some 20 us, more than lies between two launches of a caller that runs one kernel after another: it need not pay for
// sleeping and waking each time. Not measured against other numbers yet.
constexpr int kSpins = 1000;

/// Leaves the core to its other thread for a moment, where there is a way to say so.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until the condition holds, looking at most so often; returns whether it came to hold.
template <class Condition>
bool spin_until(int times, Condition&& holds) {
  for (int i = 0; i < times; ++i) {
    if (holds()) return true;
    pause();
  }
  return false;
}

/// Keeps a worker off its caller's CPU. A kernel may wake a thread on the CPU of who wakes it though others are idle
/// (Linux 6.18 does on virtual machines, whose idle CPUs look as if the host had taken them away), and leave both there
/// until a tick, 4 ms later (64 planes of 568x2272 bytes cropped by two threads, 20 ms after the last time: 4 to 7 ms;
/// now 3 to 3.5). So a caller that woke somebody yields, and a worker that finds itself on its caller's CPU takes this
/// CPU out of its own affinity, until it finds itself beside a caller elsewhere.
class AffinityGuard {
 public:
  /// Goes elsewhere, if the thread runs on `cpu` and may run on another one.
  void avoid(int cpu) {
    if (cpu < 0 || ::sched_getcpu() != cpu) return;
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return;
    // Give back the CPU that it left before, unless somebody else has changed the set since.
    if (left_ >= 0 && CPU_EQUAL(&set, &set_) != 0) CPU_SET(left_, &set);
    CPU_CLR(cpu, &set);
    if (CPU_COUNT(&set) == 0 || ::sched_setaffinity(0, sizeof set, &set) != 0) return;
    left_ = cpu;
    set_ = set;
  }

 private:
  int left_ = -1;
  cpu_set_t set_{};  // since then
};

}  // namespace

ThreadPool::ThreadPool(int threads)
    : threads_(threads > 0 ? threads : usable_cpus()), spins_(threads_ <= usable_cpus() ? kSpins : 0) {}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    ++news_;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

int ThreadPool::started() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(workers_.size());
}

void ThreadPool::start_threads() {
  if (started_) return;
  started_ = true;
  workers_.reserve(static_cast<std::size_t>(threads_ - 1));
  try {
    while (static_cast<int>(workers_.size()) < threads_ - 1) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    return;  // the system gives no more: the threads there are, or the caller alone, do the work
  }
}

void ThreadPool::link(Job& job) {
  job.following = jobs_;
  if (jobs_ != nullptr) jobs_->previous = &job;
  jobs_ = &job;
  ++news_;
}

void ThreadPool::unlink(Job& job) {
  if (!job.linked) return;
  job.linked = false;
  (job.previous != nullptr ? job.previous->following : jobs_) = job.following;
  if (job.following != nullptr) job.following->previous = job.previous;
}

void ThreadPool::run_indices(Job& job) {
  for (;;) {
    const std::int64_t index = job.next.fetch_add(1, std::memory_order_relaxed);
    if (index >= job.count) return;
    job.body(job.state, index);
  }
}

void ThreadPool::work() {
  AffinityGuard other;
  std::unique_lock lock(mutex_);
  for (;;) {
    while (jobs_ == nullptr && !stopping_) {
      if (spin_for_work(lock)) continue;
      ++asleep_;
      wake_.wait(lock);
      --asleep_;
    }
    if (jobs_ == nullptr) return;
    Job& job = *jobs_;
    ++job.workers;
    lock.unlock();
    other.avoid(job.cpu);
    run_indices(job);
    lock.lock();
    unlink(job);                                 // no index is left
    if (--job.workers == 0) done_.notify_all();  // the caller may be gone with its job
  }
}

/// Without the lock meanwhile. Whether it is worth a look; if not, nothing has come when the lock is held again.
bool ThreadPool::spin_for_work(std::unique_lock<std::mutex>& lock) {
  const std::uint32_t known = news_;
  lock.unlock();
  const bool came = spin_until(spins_, [&] { return news_.load(std::memory_order_relaxed) != known; });
  lock.lock();
  return came || news_ != known;
}

void ThreadPool::wake(std::int64_t workers) {
  if (workers == 0) return;
  if (workers >= threads_ - 1) {
    wake_.notify_all();
  } else {
    for (std::int64_t i = 0; i < workers; ++i) wake_.notify_one();
  }
  ::sched_yield();  // see AffinityGuard
}

void ThreadPool::parallel_for(std::int64_t count, ParallelBody body, void* state) {
  if (count <= 1 || threads_ == 1) {
    for (std::int64_t i = 0; i < count; ++i) body(state, i);
    return;
  }
  Job job{.body = body, .state = state, .count = count, .cpu = ::sched_getcpu()};
  std::int64_t asleep = 0;
  {
    const std::lock_guard lock(mutex_);
    start_threads();
    link(job);
    asleep = asleep_;
  }
  wake(std::min(asleep, count - 1));
  run_indices(job);
  {
    const std::lock_guard lock(mutex_);
    unlink(job);
  }
  // No worker enters any more, and the last to leave touches the job no more.
  if (spin_until(spins_, [&job] { return job.workers.load(std::memory_order_acquire) == 0; })) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&job] { return job.workers == 0; });
}

ParallelFor ThreadPool::as_parallel_for() {
  return {.run = [](void* user, std::int64_t count, ParallelBody body,
                    void* state) { static_cast<ThreadPool*>(user)->parallel_for(count, body, state); },
          .user = this,
          .threads = threads_};
}

}  // namespace padlock::runtime
