#pragma once

#include <string>

#include "session/launch/pack.h"

namespace padlock::session {

/// Writes the pack's contents as one JSON object ("schema": 1); docs/cli.md has its members.
[[nodiscard]] std::string to_json(const PackContents& contents);

}  // namespace padlock::session
