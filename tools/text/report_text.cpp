#include "tools/text/report_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace padlock::tools {

std::string region_text(const std::string& region) { return region.empty() ? "all sizes" : region; }

std::string sizes_text(const JsonValue& sizes) {
  std::string text;
  for (const std::string& name : sizes.names())
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, sizes[name].integer());
  return text;
}

std::string target_summary(const std::string& description) {
  const std::size_t blank = description.find(' ');
  if (blank == std::string::npos || blank + 1 == description.size()) return description;
  const char first = description[blank + 1];
  if (first != '+' && first != '-') return description;
  return fmt::format("{} with {} features (--json lists them)", description.substr(0, blank),
                     std::count(description.begin(), description.end(), '+'));
}

}  // namespace padlock::tools
