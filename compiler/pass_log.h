#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "support/stopwatch.h"

namespace padlock::compiler {

/// Counts how often the passes ran. Owned by the caller.
struct PassCounts {
  int lowered = 0;    ///< programs
  int scheduled = 0;  ///< schedules of kernels, of each config
  int proved = 0;     ///< schedules
};

/// Receives the time of each pass of one compile, and LLVM's modules. The product uses none unless asked. Thread-safe:
/// several threads make the modules of a GPU's program.
class PassLog {
 public:
  virtual ~PassLog() = default;
  /// Called several times for a pass that runs once a kernel, a schedule or a module.
  virtual void took(std::string_view pass, double milliseconds) = 0;
  [[nodiscard]] virtual bool wants_code() const = 0;
  /// `number`: index of the module in its program.
  virtual void code(bool simplified, std::size_t number, std::string_view llvm) = 0;
};

/// Reports the time of each pass to a log, which may be null: until the next pass, or the end of the scope.
class PassTimer {
 public:
  PassTimer(PassLog* log, std::string_view pass) : log_(log) { begin(pass); }
  PassTimer(const PassTimer&) = delete;
  PassTimer& operator=(const PassTimer&) = delete;
  ~PassTimer() { end(); }

  void next(std::string_view pass) {
    end();
    begin(pass);
  }

 private:
  void begin(std::string_view pass) {
    pass_ = pass;
    if (log_ != nullptr) watch_.emplace();
  }
  void end() {
    if (log_ != nullptr) log_->took(pass_, watch_->milliseconds());
  }

  PassLog* log_;  // borrowed
  std::string_view pass_;
  std::optional<Stopwatch> watch_;
};

}  // namespace padlock::compiler
