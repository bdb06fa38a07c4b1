#pragma once

#include <string>

#include "tools/failure.h"

namespace padlock::tools {

/// Reads a pack. Failures exit with `file` and begin with the path.
[[nodiscard]] Outcome<lib::Pack> load_pack(const lib::Context& context, const std::string& path);

/// For errors of a pack's program, once the pack itself is read: which code follows from the kind of error.
[[nodiscard]] std::unexpected<Failure> pack_failure(const lib::Error& error, const std::string& file);

}  // namespace padlock::tools
