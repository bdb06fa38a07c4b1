#include "tests/differential/gallery_files.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>

namespace padlock::differential {

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string line_after(const std::string& text, std::string_view begin) {
  const std::size_t at = text.find(begin);
  if (at == std::string::npos) return {};
  return text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
}

Sizes named_sizes(const std::string& program) {
  const std::string text = line_after(program, "// Sizes: ");
  Sizes sizes;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t equals = text.find('=', at);
    std::int64_t value = 0;
    std::from_chars(text.data() + equals + 1, text.data() + end, value);
    sizes[text.substr(at, equals - at)] = value;
    at = end == text.size() ? end : end + 2;
  }
  return sizes;
}

}  // namespace padlock::differential
