#pragma once

#include <string>

#include "api/pack.h"

namespace padlock::api {

/// What a pack holds, as one JSON object ("schema": 1); docs/cli.md has its members.
[[nodiscard]] std::string to_json(const PackContents& contents);

}  // namespace padlock::api
