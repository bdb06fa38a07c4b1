#pragma once

#include <signal.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/file.h"

namespace padlock::tools {

/// OutputFiles are what a command writes to. While one of these lives, SIGINT, SIGTERM and SIGHUP remove the files that
/// are not complete and end the process with ExitCode::interrupted; a signal that the caller ignores stays ignored.
/// Make it before any other thread, since threads inherit which signals they leave alone.
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

  sigset_t signals_{};  // what the waiting thread waits for
  sigset_t before_{};   // what this thread blocked before
  std::atomic<bool> stopping_ =
      false;  // in the default order: once a process; the signal that follows wakes the thread
  std::mutex mutex_;
  std::vector<std::string> unfinished_;  // once finished, nothing has that name any more
  std::thread waiter_;
};

}  // namespace padlock::tools
