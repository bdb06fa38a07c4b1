#include "tools/text/report_text.h"

#include <fmt/format.h>

namespace padlock::tools {

std::string region_text(const std::string& region) { return region.empty() ? "all sizes" : region; }

std::string sizes_text(const JsonValue& sizes) {
  std::string text;
  for (const std::string& name : sizes.names())
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, sizes[name].integer());
  return text;
}

}  // namespace padlock::tools
