#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// Lines of fields, as cases.txt and pairs.txt have them.
namespace padlock::bench {

/// Splits at each `separator`: one field at least, without the blanks around it.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Reads a decimal number; nullopt for anything else.
[[nodiscard]] std::optional<std::int64_t> integer(std::string_view text);

}  // namespace padlock::bench
