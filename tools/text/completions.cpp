#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/text/command_info.h"

namespace padlock::tools {
namespace {

using Values = std::pair<std::string_view, std::string_view>;

/// Types with few values, and these values.
constexpr auto kValues = std::to_array<Values>({
    {"DEVICE", "host reference simt cuda:0"},
    {"MODE", "off read read-write require"},
    {"STAGE", "ir kernel schedule llvm ptx asm"},
    {"TARGET", "host sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_100 sm_120"},
    {"SHELL", "bash zsh fish"},
});

std::vector<std::string_view> names_of(const std::vector<CommandInfo>& commands) {
  std::vector<std::string_view> names;
  for (const CommandInfo& command : commands) names.emplace_back(command.name);
  return names;
}

/// Returns a name as bash completes it: with '=' if a value must follow.
std::string bash_name(const OptionInfo& option) {
  const bool must = !option.type.empty() && !option.type.starts_with('[');
  return option.name + (must ? "=" : "");
}

/// Makes a line of the table of options, and a line for each option with few values, for the command `words` ("cache
/// show").
std::string bash_cases(const CommandInfo& command, const std::string& words) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    if (!option.is_positional) names.push_back(bash_name(option));
  for (const CommandInfo& below : command.commands) names.push_back(below.name);
  std::string text = fmt::format("    '{}') words='{}' ;;\n", words, fmt::join(names, " "));
  for (const CommandInfo& below : command.commands)
    text += bash_cases(below, words.empty() ? below.name : words + " " + below.name);
  return text;
}

void collect_values(const CommandInfo& command, std::vector<std::pair<std::string, std::string_view>>& lines) {
  for (const OptionInfo& option : command.options) {
    const auto* const found = std::ranges::find(kValues, option.type, &Values::first);
    if (found == kValues.end() || option.is_positional) continue;
    const std::pair<std::string, std::string_view> line(option.name, found->second);
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  for (const CommandInfo& below : command.commands) collect_values(below, lines);
}

// '=' separates words in bash: "--device=ho" is the three words --device, = and ho.
std::string bash_script(const CommandInfo& command) {
  std::vector<std::pair<std::string, std::string_view>> values;
  collect_values(command, values);
  std::vector<std::string_view> groups;
  for (const CommandInfo& below : command.commands)
    if (!below.commands.empty()) groups.emplace_back(below.name);
  std::string text = fmt::format(
      "# bash completion of {0}\n_{0}() {{\n  local current=${{COMP_WORDS[COMP_CWORD]}} option= command= word words=\n"
      "  if [[ $current == = ]]; then option=${{COMP_WORDS[COMP_CWORD-1]}} current=\n"
      "  elif ((COMP_CWORD > 1)) && [[ ${{COMP_WORDS[COMP_CWORD-1]}} == = ]]; then "
      "option=${{COMP_WORDS[COMP_CWORD-2]}}; fi\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    [[ $word == -* || $word == = ]] && continue\n    command=\"${{command:+$command }}$word\"\n"
      "    [[ ' {1} ' == *\" $command \"* ]] || break\n  done\n  COMPREPLY=()\n  case $option in\n",
      command.name, fmt::join(groups, " "));
  for (const auto& [option, few] : values) text += fmt::format("    {}) words='{}' ;;\n", option, few);
  text += "    -*) COMPREPLY=($(compgen -f -- \"${current#@}\")); return ;;\n  esac\n";
  text += "  [[ $words ]] || case $command in\n" + bash_cases(command, "") + "  esac\n";
  text += "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n";
  text += "  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n";
  text += "  ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"$current\"))\n}\n";
  return text + fmt::format("complete -o filenames -F _{0} {0}\n", command.name);
}

/// Quotes a text for zsh or fish, without the characters that _arguments interprets.
std::string shell_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '[' || c == ']' || c == ':') {
      result += c == '\'' ? "" : c == ':' ? " -" : " ";
    } else {
      result += c;
    }
  }
  return result;
}

std::string zsh_action(const OptionInfo& option) {
  if (const auto values = values_of(option.type); !values.empty()) return fmt::format("({})", fmt::join(values, " "));
  return takes_file(option.type) ? "_files" : " ";
}

std::string zsh_arguments(const CommandInfo& command, const std::string& indent) {
  std::string text = indent + "_arguments";
  for (const OptionInfo& option : command.options) {
    if (option.is_positional) continue;
    const std::string value =
        option.type.empty() ? "" : fmt::format("{}:{}", shell_text(option.type), zsh_action(option));
    const char* const mark = option.type.empty() ? "" : option.type.starts_with('[') ? "=-" : "=";
    text += fmt::format(" \\\n{}  '*{}{}[{}]{}{}'", indent, option.name, mark, shell_text(option.help),
                        value.empty()                  ? ""
                        : option.type.starts_with('[') ? "::"
                                                       : ":",
                        value);
  }
  return text + fmt::format(" \\\n{}  '*:file:_files'\n", indent);
}

std::string zsh_list(const std::vector<CommandInfo>& commands) {
  std::string text;
  for (const CommandInfo& command : commands) text += fmt::format(" '{}:{}'", command.name, shell_text(command.help));
  return text;
}

std::string zsh_case(const CommandInfo& command) {
  if (command.commands.empty())
    return fmt::format("    {})\n{}      ;;\n", command.name, zsh_arguments(command, "      "));
  std::string text = fmt::format(
      "    {0})\n      if ((CURRENT == 3)); then\n        local -a parts=({1})\n        _describe '{0}' parts\n"
      "        return\n      fi\n      case $words[3] in\n",
      command.name, zsh_list(command.commands));
  for (const CommandInfo& below : command.commands)
    text += fmt::format("      {})\n{}        ;;\n", below.name, zsh_arguments(below, "        "));
  return text + "      esac\n      ;;\n";
}

std::string zsh_script(const CommandInfo& command) {
  std::string text = fmt::format(
      "#compdef {0}\n_{0}() {{\n  if ((CURRENT == 2)); then\n    local -a commands=({1})\n"
      "    _describe command commands\n    return\n  fi\n  case $words[2] in\n",
      command.name, zsh_list(command.commands));
  for (const CommandInfo& below : command.commands) text += zsh_case(below);
  return text + fmt::format("  esac\n}}\n_{0} \"$@\"\n", command.name);
}

std::string fish_options(const CommandInfo& command, const std::string& program, const std::string& condition) {
  std::string text;
  for (const OptionInfo& option : command.options) {
    if (option.is_positional) continue;
    text += fmt::format("complete -c {} -n '{}' -l {} -d '{}'", program, condition, option.name.substr(2),
                        shell_text(option.help));
    if (!option.type.empty() && !option.type.starts_with('[')) text += " -r";
    if (const auto values = values_of(option.type); !values.empty())
      text += fmt::format(" -f -a '{}'", fmt::join(values, " "));
    text += "\n";
  }
  return text;
}

std::string fish_script(const CommandInfo& command) {
  const std::string none = "__fish_use_subcommand";
  std::string text = fmt::format("# fish completion of {}\n", command.name) + fish_options(command, command.name, none);
  for (const CommandInfo& below : command.commands) {
    const std::string seen = "__fish_seen_subcommand_from " + below.name;
    text +=
        fmt::format("complete -c {} -n '{}' -a {} -d '{}'\n", command.name, none, below.name, shell_text(below.help));
    text += fish_options(below, command.name, seen);
    const std::string first =
        fmt::format("{}; and not __fish_seen_subcommand_from {}", seen, fmt::join(names_of(below.commands), " "));
    for (const CommandInfo& part : below.commands) {
      text +=
          fmt::format("complete -c {} -n '{}' -a {} -d '{}'\n", command.name, first, part.name, shell_text(part.help));
      text += fish_options(part, command.name, seen + "; and __fish_seen_subcommand_from " + part.name);
    }
  }
  return text;
}

}  // namespace

const CommandInfo* CommandInfo::find(std::string_view command) const {
  const auto found = std::ranges::find(commands, command, &CommandInfo::name);
  return found == commands.end() ? nullptr : &*found;
}

std::vector<std::string_view> values_of(std::string_view type) {
  std::vector<std::string_view> values;
  const auto* const found = std::ranges::find(kValues, type, &Values::first);
  std::string_view rest = found == kValues.end() ? std::string_view() : found->second;
  while (!rest.empty()) {
    values.push_back(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(std::min(rest.size(), values.back().size() + 1));
  }
  return values;
}

bool takes_file(std::string_view type) { return type.find("FILE") != std::string_view::npos || type == "FOLDER"; }

std::string completion_script(const CommandInfo& command, std::string_view shell) {
  if (shell == "bash") return bash_script(command);
  if (shell == "zsh") return zsh_script(command);
  return shell == "fish" ? fish_script(command) : std::string();
}

}  // namespace padlock::tools
