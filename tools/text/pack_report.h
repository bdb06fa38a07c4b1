#pragma once

#include <string>

#include "tools/text/json_value.h"

namespace padlock::tools {

/// Prints a pack's contents, a line for each program, target and config. `contents` is padlock_pack_describe's report.
[[nodiscard]] std::string pack_text(const JsonValue& contents);

}  // namespace padlock::tools
