#include "tools/text/pack_report.h"

#include <fmt/format.h>

#include "tools/text/report_text.h"

namespace padlock::tools {
namespace {

std::string target_text(const JsonValue& target) {
  std::string text = fmt::format("  {}: {}\n", target["name"].text(), target_summary(target["description"].text()));
  const auto& codes = target["codes"].items();
  for (const JsonValue& code : codes)
    text += fmt::format(
        "    {}: {} bytes of code{}{}\n", code["config"].text(), code["code_bytes"].integer(),
        code["cubin_bytes"].integer() > 0 ? fmt::format(", {} of a cubin", code["cubin_bytes"].integer()) : "",
        &code == &codes.front() ? fmt::format(" ({})", target["reason"].text()) : "");
  for (const JsonValue& choice : target["choices"].items())
    text += fmt::format("    {} for {}\n", choice["config"].text(), region_text(choice["region"].text()));
  return text;
}

}  // namespace

std::string pack_text(const JsonValue& contents) {
  std::string text = fmt::format("made with {}\n", contents["build"].text());
  for (const JsonValue& program : contents["programs"].items()) {
    text += fmt::format("{} ({})\n", program["name"].text(), program["fingerprint"].text());
    for (const JsonValue& target : program["targets"].items()) text += target_text(target);
  }
  return text;
}

}  // namespace padlock::tools
