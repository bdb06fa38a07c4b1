#pragma once

#include <optional>
#include <string_view>

#include "tuner/cache/record.h"

namespace padlock::tuner {

/// The record of which this is exactly the line that to_line writes, its hash included; nothing of any other text. Some
/// times quicker than a reader of any JSON would be. Nobody has looked at the values.
[[nodiscard]] std::optional<Record> scan_line(std::string_view line);

}  // namespace padlock::tuner
