#pragma once

#include <signal.h>

#include <array>

namespace padlock::tools {

/// During the lifetime of an object, the first SIGINT, SIGTERM or SIGHUP is only noted, so that a command can finish
/// and keep its results. A second one ends the process as usual. A signal that the caller ignores stays ignored. Only
/// one object may exist at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  [[nodiscard]] static bool requested();

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace padlock::tools
