#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

// What a person sees while a command is busy with one long call.
namespace padlock::tools {

/// Says on a terminal what the command is busy with and for how long, once that has taken a second:
/// "compiling 12 programs for host, 3 s". The line is wiped when this ends, before the command says anything else.
/// Where stderr is no terminal nothing is shown and no thread is started.
class Waiting {
 public:
  explicit Waiting(std::string what);
  /// For tests: on that file, from `first` on.
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
