#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/parallel_for.h"
#include "support/fork.h"

namespace padlock::runtime {

/// Threads for parallel loops. They start on the first loop that needs them and are joined at destruction. The calling
/// thread works too, so nested loops, or two callers at once, cannot deadlock. Thread-safe. In a forked child the pool
/// has threads of its own, whatever its parent ran at the fork.
class ThreadPool {
 public:
  /// `threads` counts the caller: 1 starts none. 0 means as many as the process may run on.
  explicit ThreadPool(int threads = 0);
  /// Precondition: no loop is running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  [[nodiscard]] int threads() const { return threads_; }
  /// Returns the threads started so far, without the caller's.
  [[nodiscard]] int started() const;
  /// Calls body(state, i) once for every i in [0, count) and returns after all calls. Allocates nothing once the
  /// threads run.
  void parallel_for(std::int64_t count, ParallelBody body, void* state);
  [[nodiscard]] ParallelFor as_parallel_for();

 private:
  /// A running loop; lives on its caller's stack, linked while indices remain.
  struct Job {
    ParallelBody body;
    void* state;
    std::int64_t count;
    int cpu;  // CPU of the caller
    // Relaxed: it hands out numbers alone. The mutex that linked the job has shown a worker all else of it.
    std::atomic<std::int64_t> next = 0;
    // Threads inside the loop. Raised under the mutex, so that the caller, once it has unlinked the job, sees every
    // increment. Lowered with release (by the default, which is stronger) and read with acquire: with 0 the caller sees
    // what all workers have stored.
    std::atomic<int> workers = 0;
    bool linked = true;  // guarded by mutex_
    Job* previous = nullptr;
    Job* following = nullptr;
  };

  /// The threads of one process, and the state that they share with their callers.
  struct Team {
    const std::uint64_t generation = fork_generation();
    std::mutex mutex;  // guards what follows
    std::condition_variable wake;
    std::condition_variable done;
    std::vector<std::thread> workers;
    // Counts events that workers wait for. Changed under the mutex. Read without it relaxed, as a hint to take the
    // mutex, under which alone a worker believes what it sees.
    std::atomic<std::uint32_t> news = 0;
    Job* jobs = nullptr;  // borrowed (each outlives its place in the list)
    int asleep = 0;
    bool started = false;
    bool stopping = false;

    void link(Job& job);
    void unlink(Job& job);
  };

  Team& team() const;
  void start_threads(Team& team);  // precondition: its mutex is held
  void work(Team& team) const;
  bool spin_for_work(Team& team, std::unique_lock<std::mutex>& lock) const;
  void wake(Team& team, std::int64_t workers) const;
  static void run_indices(Job& job);

  const int threads_;
  const int spins_;  // checks before a thread sleeps
  // Owned; replaced in a forked child, by whichever of its threads comes first. Published with release and read with
  // acquire: who finds the pointer finds the team made.
  mutable std::atomic<Team*> team_;
};

/// Returns the CPUs that the calling process may run on; at least 1.
[[nodiscard]] int usable_cpus();

}  // namespace padlock::runtime
