#pragma once

#include <string>

#include "tools/text/json_value.h"

namespace padlock::tools {

/// A region of sizes, of which the empty one is all.
[[nodiscard]] std::string region_text(const std::string& region);
/// "B=4,S=1024".
[[nodiscard]] std::string sizes_text(const JsonValue& sizes);

}  // namespace padlock::tools
