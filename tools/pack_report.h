#pragma once

#include <string>

#include "api/pack.h"

namespace padlock::tools {

/// What a pack holds, a line for each program, target and config.
[[nodiscard]] std::string pack_text(const api::PackContents& contents);

}  // namespace padlock::tools
