#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

// Shows a person what a command is doing during a long call.
namespace padlock::tools {

/// On a terminal prints what the command is doing and for how long, once it has taken a second: "compiling 12 programs
/// for host, 3 s". The destructor wipes the line, before the command prints anything else. If stderr is no terminal,
/// prints nothing and starts no thread.
class Waiting {
 public:
  explicit Waiting(std::string what);
  /// For tests: prints to `out`, from `first` on.
  Waiting(std::string what, std::FILE* out, std::chrono::milliseconds first);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void show(std::chrono::milliseconds first);

  std::string what_;
  std::FILE* out_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread thread_;
};

}  // namespace padlock::tools
