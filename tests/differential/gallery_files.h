#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// The programs of examples/gallery as files.
namespace padlock::differential {

using Sizes = std::map<std::string, std::int64_t>;

/// All files in a folder and below it, in order.
[[nodiscard]] std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder);
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// The rest of the line that begins so; empty where there is none.
[[nodiscard]] std::string line_after(const std::string& text, std::string_view begin);
/// The sizes that a program names in its line "// Sizes: N=2, C=3".
[[nodiscard]] Sizes named_sizes(const std::string& text);

}  // namespace padlock::differential
