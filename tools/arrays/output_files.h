#pragma once

#include <signal.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/file.h"

namespace padlock::tools {

/// The files that a command writes. During the lifetime of an object, SIGINT, SIGTERM and SIGHUP remove incomplete
/// files and end the process with ExitCode::interrupted; a signal that the caller ignores stays ignored. Create it
/// before any other thread, since threads inherit the blocked signals.
class OutputFiles {
 public:
  OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  /// As AtomicFile::create. Thread-safe.
  [[nodiscard]] Result<AtomicFile> create(const std::string& path);

 private:
  void wait_for_signal();

  sigset_t signals_{};  // for which the waiting thread waits
  sigset_t before_{};   // signals that this thread blocked before
  // In the default order: it changes once, and the signal that follows wakes the thread.
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::vector<std::string> unfinished_;  // a finished file no longer has the temporary name
  std::thread waiter_;
};

}  // namespace padlock::tools
