#pragma once

#include <string>

#include "tools/text/json_value.h"

namespace padlock::tools {

/// Prints a region of sizes; an empty one is all sizes.
[[nodiscard]] std::string region_text(const std::string& region);
/// Prints "B=4,S=1024".
[[nodiscard]] std::string sizes_text(const JsonValue& sizes);
/// Shortens a target's description, "CPU +feature,-feature,...", for people: the CPU and how many features it has.
[[nodiscard]] std::string target_summary(const std::string& description);

}  // namespace padlock::tools
