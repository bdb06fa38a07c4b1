#pragma once

#include "tools/failure.h"

namespace padlock::tools {

/// A context of the library. Warnings go to stderr, whatever logger the options have. Failure: cache, where a file that
/// is required cannot be used.
[[nodiscard]] Outcome<lib::Context> open_context(padlock_context_options options = lib::Context::options());

/// Failures: usage for what is no device's name; unavailable.
[[nodiscard]] Outcome<void> check_device(const lib::Context& context, const std::string& device);

}  // namespace padlock::tools
