#pragma once

#include <optional>
#include <string_view>

#include "tuner/cache/record.h"

namespace padlock::tuner {

/// Reads a line as to_line writes it, some times quicker than a reader of any JSON would. Nothing for whatever it does
/// not understand; of what it gives, neither the values nor the hash have been looked at.
[[nodiscard]] std::optional<Record> scan_line(std::string_view line);

}  // namespace padlock::tuner
