#pragma once

#include <optional>
#include <string>
#include <string_view>

// A driver assembles all of a text when it loads it, variants that are never launched included. So each entry of a
// program's PTX is loaded as a text of its own.
namespace padlock::abi {

/// Appends the functions of one text to another, which is empty or has the same head.
void append_ptx(std::string& text, std::string_view other);
/// Returns whether the text has an entry of that name.
[[nodiscard]] bool has_ptx_entry(std::string_view text, std::string_view name);
/// Returns the text without its other entries, but with everything outside entries. Nullopt if it has no entry of that
/// name.
[[nodiscard]] std::optional<std::string> ptx_of_entry(std::string_view text, std::string_view name);

}  // namespace padlock::abi
