#pragma once

#include <string>
#include <string_view>
#include <vector>

// The command line as data, made of what it is parsed with: completions, the manual page and suggestions follow it.
namespace padlock::tools {

struct OptionInfo {
  std::string name = {};    ///< "--json"; of an argument without a name, its name in the help
  std::string letter = {};  ///< "-h", or empty
  std::string type = {};    ///< of its value, as the help shows it; empty for a flag
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

/// Returns the values that an option of this type takes where they are few: "DEVICE" has host, reference, ...
[[nodiscard]] std::vector<std::string_view> values_of(std::string_view type);
/// Returns whether a value of this type is a file's name.
[[nodiscard]] bool takes_file(std::string_view type);

/// The scripts that complete the command in a shell. `shell`: bash, zsh or fish; "" for another.
[[nodiscard]] std::string completion_script(const CommandInfo& command, std::string_view shell);
/// The manual page, in the language of man.
[[nodiscard]] std::string manual_page(const CommandInfo& command, std::string_view version);

}  // namespace padlock::tools
