#include "tools/pack_report.h"

#include <fmt/format.h>

#include "tools/command.h"

namespace padlock::tools {
namespace {

std::string target_text(const api::PackTarget& target) {
  std::string text = fmt::format("  {}: {}\n", target.name, target_summary(std::string(target.description)));
  for (const api::PackCode& code : target.codes)
    text += fmt::format("    {}: {} bytes of code{}\n", code.config, code.code.size(),
                        &code == &target.codes.front() ? fmt::format(" ({})", target.reason) : "");
  for (const api::PackChoice& choice : target.choices)
    text += fmt::format("    {} for {}\n", choice.config, choice.region.empty() ? "all sizes" : choice.region);
  return text;
}

}  // namespace

std::string pack_text(const api::PackContents& contents) {
  std::string text = fmt::format("made with {}\n", contents.build);
  for (const api::PackProgram& program : contents.programs) {
    text += fmt::format("{} ({})\n", program.name, program.fingerprint);
    for (const api::PackTarget& target : program.targets) text += target_text(target);
  }
  return text;
}

}  // namespace padlock::tools
