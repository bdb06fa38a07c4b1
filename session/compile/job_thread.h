#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "support/error.h"

// Private to this folder.
namespace padlock::session {

/// Runs jobs one after another on its own thread, which the first job starts. Thread-safe.
class JobThread {
 public:
  /// A job calls `stopped` now and then to see whether to stop.
  using Job = std::function<void(const std::function<bool()>& stopped)>;

  JobThread() = default;
  /// Stops the current job, drops the others, and waits.
  ~JobThread();

  /// Error: resource_exhausted if no thread can be started.
  [[nodiscard]] Status add(Job job);
  /// Waits until no job is left. Must not be called by a job.
  void wait();

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> jobs_;  // the first is running; guarded by mutex_
  std::jthread thread_;   // last: its jobs use the members above
};

}  // namespace padlock::session
