#pragma once

#include <string>

#include "runtime/pack/pack_file.h"

namespace padlock::session {

/// Writes the pack's contents as one JSON object ("schema": 1); docs/cli.md has its members.
[[nodiscard]] std::string to_json(const runtime::PackContents& contents);

}  // namespace padlock::session
