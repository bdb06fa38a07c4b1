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

/// A caller's logger, or none.
struct Log {
  padlock_log_function function = nullptr;
  void* user = nullptr;

  [[nodiscard]] bool wanted() const { return function != nullptr; }
  /// `message` ends with a zero byte.
  void write(padlock_log_level level, const char* message) const {
    if (function != nullptr) function(user, level, message);
  }
};

}  // namespace padlock::capi

struct padlock_context : padlock::capi::Counted<padlock_context> {
  padlock_context(std::unique_ptr<padlock::session::LaunchContext> made, padlock::capi::Log logger)
      : launching(std::move(made)), log(logger) {}

  const std::unique_ptr<padlock::session::LaunchContext> launching;  // an session::Context where there is a compiler
  const padlock::capi::Log log;
  std::string cache_file;  // of tuning; empty: none is used
  std::atomic<std::int64_t> tunings = 0;
  padlock::capi::KernelTable kernels;  // last: what is compiled goes before its context
};
