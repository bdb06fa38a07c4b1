#include <fmt/format.h>

#include "tools/failure.h"
#include "tools/text/command_info.h"

namespace padlock::tools {
namespace {

/// Escapes a text for man: a typed hyphen stays a hyphen, and no line begins with a request.
std::string roff_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (result.ends_with('\n') || result.empty())
      if (c == '.' || c == '\'') result += "\\&";
    if (c == '-' || c == '\\') result += '\\';
    result += c == '\\' ? 'e' : c;
  }
  return result;
}

std::string option_text(const OptionInfo& option) {
  if (option.is_positional) return fmt::format(".TP\n.I {}\n{}\n", roff_text(option.type), roff_text(option.help));
  const std::string letter = option.letter.empty() ? "" : fmt::format("\\fB{}\\fR, ", roff_text(option.letter));
  const bool is_optional = option.type.starts_with('[');
  const std::string value =
      option.type.empty() ? "" : fmt::format("{}\\fI{}\\fR", is_optional ? "" : "=", roff_text(option.type));
  return fmt::format(".TP\n{}\\fB{}\\fR{}\n{}\n", letter, roff_text(option.name), value, roff_text(option.help));
}

std::string command_text(const CommandInfo& command, const std::string& words) {
  std::string text = fmt::format(".SS \"{}\"\n{}.\n", roff_text(words), roff_text(command.help));
  for (const OptionInfo& option : command.options) text += option_text(option);
  if (!command.footer.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff_text(command.footer));
  for (const CommandInfo& below : command.commands) text += command_text(below, words + " " + below.name);
  return text;
}

}  // namespace

std::string manual_page(const CommandInfo& command, std::string_view version) {
  std::string text = fmt::format(
      ".TH PADLOCK 1 \"\" \"padlock {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n"
      ".I SUBCOMMAND\n[\\fIFILE\\fR] [\\fB\\-\\-option\\fR=\\fIvalue\\fR ...]\n.SH OPTIONS\n",
      roff_text(version), command.name, roff_text(command.help), command.name);
  for (const OptionInfo& option : command.options) text += option_text(option);
  text += ".SH SUBCOMMANDS\n";
  for (const CommandInfo& below : command.commands) text += command_text(below, below.name);
  text += ".SH EXIT STATUS\n";
  for (const ExitMeaning& meaning : kExitMeanings)
    text += fmt::format(".TP\n{}\n{}\n", static_cast<int>(meaning.code), roff_text(meaning.text));
  return text + fmt::format(".SH SEE ALSO\n{}\n", roff_text(kDocumentation));
}

}  // namespace padlock::tools
