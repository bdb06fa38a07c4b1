#include "tools/commands/context.h"

#include <fmt/format.h>

#include <cstdio>

namespace padlock::tools {
namespace {

void warn(void*, padlock_log_level level, const char* message) {
  if (level >= PADLOCK_LOG_WARNING) fmt::print(stderr, "padlock: warning: {}\n", message);
}

}  // namespace

Outcome<lib::Context> open_context(padlock_context_options options) {
  options.log = warn;
  return or_fail(ExitCode::cache, lib::Context::create(options));
}

Outcome<void> check_device(const lib::Context& context, const std::string& device) {
  const lib::Status status = context.check_device(device);
  if (status) return {};
  const bool unknown = status.error().status() == PADLOCK_INVALID_ARGUMENT;
  return fail(unknown ? ExitCode::usage : ExitCode::unavailable, status.error());
}

}  // namespace padlock::tools
