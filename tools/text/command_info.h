#pragma once

#include <string>
#include <string_view>
#include <vector>

// The command line as data, from the declarations that parse it. Completions, the manual page and suggestions use it.
namespace padlock::tools {

struct OptionInfo {
  std::string name = {};    ///< "--json"; for a positional argument its name in the help
  std::string letter = {};  ///< "-h", or empty
  std::string type = {};    ///< type of its value as the help shows it; empty for a flag
  std::string help = {};
  bool is_positional = false;
};

struct CommandInfo {
  std::string name;
  std::string help;
  std::string footer = {};  ///< the examples
  std::vector<OptionInfo> options = {};
  std::vector<CommandInfo> commands = {};  ///< without hidden ones

  /// Returns the subcommand of that name, or null.
  [[nodiscard]] const CommandInfo* find(std::string_view command) const;
};

/// Returns the values of an option of this type if they are few: "DEVICE" has host, reference, ...
[[nodiscard]] std::vector<std::string_view> values_of(std::string_view type);
/// Returns whether a value of this type is a file's name.
[[nodiscard]] bool takes_file(std::string_view type);

/// Returns the script that completes the command in a shell: bash, zsh or fish; "" for another.
[[nodiscard]] std::string completion_script(const CommandInfo& command, std::string_view shell);
/// Returns the manual page in man's language.
[[nodiscard]] std::string manual_page(const CommandInfo& command, std::string_view version);

}  // namespace padlock::tools
