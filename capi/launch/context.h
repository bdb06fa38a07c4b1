#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "capi/launch/kernel_table.h"
#include "capi/object.h"
#include "padlock/padlock.h"
#include "session/launch/launch_context.h"

namespace padlock::capi {

/// Messages go to the caller's logger, and to stderr as PADLOCK_LOG says.
struct Log {
  static constexpr padlock_log_level kNothing = PADLOCK_LOG_WARNING + 1;

  /// Reads PADLOCK_LOG. Warns on stderr of an unknown value.
  [[nodiscard]] static Log from_environment(padlock_log_function function, void* user);

  padlock_log_function function = nullptr;
  void* user = nullptr;
  padlock_log_level printed = kNothing;  ///< the lowest level that is printed on stderr

  [[nodiscard]] bool prints(padlock_log_level level) const { return level >= printed; }
  [[nodiscard]] bool wanted(padlock_log_level level) const { return function != nullptr || prints(level); }
  /// `message` ends with a zero byte.
  void write(padlock_log_level level, const char* message) const;
  /// Prints on stderr at every level.
  static void print(padlock_log_level level, std::string_view message);
};

}  // namespace padlock::capi

struct padlock_context : padlock::capi::Counted<padlock_context> {
  padlock_context(std::unique_ptr<padlock::session::LaunchContext> made, padlock::capi::Log logger)
      : launching(std::move(made)), log(logger) {}

  const std::unique_ptr<padlock::session::LaunchContext> launching;  // a session::Context if there is a compiler
  const padlock::capi::Log log;
  std::string cache_file;                 // of tuning; empty: none
  std::atomic<std::int64_t> tunings = 0;  // raised after the cache has the results, in the default order: a release
  padlock::capi::KernelTable kernels;     // last, so that kernels are destroyed before their context
};
