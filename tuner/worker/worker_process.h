#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace padlock::tuner {

using Clock = std::chrono::steady_clock;

/// A child process with a socket as its stdin and stdout. Killed and reaped on destruction; movable. It has a process
/// group of its own, so that a terminal's interrupt does not reach it.
class WorkerProcess {
 public:
  /// Errors: unavailable, naming the file, as the system says.
  [[nodiscard]] static Result<WorkerProcess> spawn(const std::vector<std::string>& command);
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  enum class Event : std::uint8_t { progress, ended, timeout };
  /// Sends as much of `outgoing` as the socket takes and removes it, and appends received bytes to `incoming`. Waits
  /// for either until `deadline`. `ended`: the child closed its side, and all that it wrote was received.
  [[nodiscard]] Event exchange(std::string_view& outgoing, std::string& incoming, Clock::time_point deadline);
  /// Returns whether it has neither written nor ended, without waiting.
  [[nodiscard]] bool is_idle() const;

  /// Kills it unless it ends by itself in time, and describes its end: "died of SIGSEGV (Segmentation fault)", "exited
  /// with 3", and the last characters of its stderr. Empty the second time.
  struct End {
    int signal = 0;  ///< signal that ended it, unless sent by us
    std::string text;
  };
  [[nodiscard]] End end(std::chrono::milliseconds patience);

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  WorkerProcess(pid_t pid, int socket, int errors);
  void drain_errors();
  /// As waitpid, within that time.
  pid_t wait(int& status, std::chrono::milliseconds patience) const;
  void reset();

  pid_t pid_ = -1;    // owned: not waited for yet; -1 for none
  int socket_ = -1;   // owned
  int errors_ = -1;   // owned: a pipe from its stderr
  std::string tail_;  // end of the worker's stderr
  bool echoes_;       // copies its stderr to ours
};

}  // namespace padlock::tuner
