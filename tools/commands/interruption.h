#pragma once

#include <signal.h>

#include <array>

namespace padlock::tools {

/// While one of these lives, SIGINT, SIGTERM and SIGHUP are only noted, so that a command may end what it is at and
/// keep what it has; a second one ends the process as ever. A signal that the caller ignores stays ignored. One at a
/// time.
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
