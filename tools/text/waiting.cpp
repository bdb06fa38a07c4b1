#include "tools/text/waiting.h"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

namespace padlock::tools {

Waiting::Waiting(std::string what)
    : Waiting(std::move(what), ::isatty(STDERR_FILENO) != 0 ? stderr : nullptr, std::chrono::seconds(1)) {}

Waiting::Waiting(std::string what, std::FILE* out, std::chrono::milliseconds first)
    : what_(std::move(what)), out_(out) {
  if (out_ != nullptr) thread_ = std::thread([this, first] { show(first); });
}

Waiting::~Waiting() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Waiting::show(std::chrono::milliseconds first) {
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, first, [this] { return has_ended_; })) return;
  std::string line;
  do {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    line = fmt::format("{}, {} s", what_, seconds.count());
    fmt::print(out_, "\r{}", line);
    std::fflush(out_);
  } while (!ended_.wait_for(lock, std::chrono::seconds(1), [this] { return has_ended_; }));
  fmt::print(out_, "\r{:{}}\r", "", line.size());
  std::fflush(out_);
}

}  // namespace padlock::tools
