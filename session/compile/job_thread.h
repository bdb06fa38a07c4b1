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

/// Does jobs one after another on a thread of its own, which the first job starts. Thread-safe.
class JobThread {
 public:
  /// Asks now and then whether it should stop.
  using Job = std::function<void(const std::function<bool()>& stopped)>;

  JobThread() = default;
  /// Stops the job at hand, forgets the others, and waits.
  ~JobThread();

  /// Error: resource_exhausted where no thread can be started.
  [[nodiscard]] Status add(Job job);
  /// Waits until no job is left. Not to be called by a job.
  void wait();

 private:
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Job> jobs_;  // the first is at hand; guarded by mutex_
  std::jthread thread_;   // last: its work uses the rest
};

}  // namespace padlock::session
