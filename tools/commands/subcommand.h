#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/failure.h"
#include "tools/text/command_info.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace padlock::tools {

/// Runs after the command line is parsed.
using Action = std::function<Outcome<ExitCode>()>;

/// The value that main gives to a --json without a file.
inline constexpr const char* kStandardOutput = "-";

/// A subcommand during its declaration. The variables of options must outlive the action. Hides CLI11, whose headers
/// add seconds to a file's compile time.
class Subcommand {
 public:
  /// The whole command. Parsing sets `action` to that of the given subcommand. Borrows both.
  Subcommand(CLI::App& app, Action& action) : app_(&app), action_(&action) {}

  /// Adds a subcommand to this one.
  [[nodiscard]] Subcommand subcommand(const std::string& name, const std::string& help);
  /// Requires one of the subcommands to be given.
  void require_subcommand();
  /// Leaves it out of the help.
  void hide();

  /// Adds the positional argument for the program file. `type` lists the accepted kinds.
  void program(std::string& file, const std::string& type = "PROGRAM.pad | MODEL.onnx | -");
  /// Adds a positional argument that is a word.
  void word(std::string& value, const std::string& type, const std::string& help);
  /// Adds `least` to `most` positional names of files.
  void files(std::vector<std::string>& files, int least, int most, const std::string& help);
  void option(const std::string& name, std::string& value, const std::string& type, const std::string& help);
  /// Adds an option with a number >= 0.
  void option(const std::string& name, std::uint64_t& value, const std::string& type, const std::string& help);
  void option(const std::string& name, std::optional<std::uint64_t>& value, const std::string& type,
              const std::string& help);
  /// Adds an option with a number from `least` to `most`.
  void option(const std::string& name, std::int64_t& value, std::int64_t least, std::int64_t most,
              const std::string& type, const std::string& help);
  /// Adds an option that may be given several times, with one value each time.
  void repeated(const std::string& name, std::vector<std::string>& values, const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// Adds --json[=FILE]: `destination` stays empty without it.
  void json(std::string& destination);
  /// Adds examples at the end of the help; each works as typed in the repository's root.
  void examples(const std::string& first, const std::string& second);

  /// Returns all of it, as it is parsed, without hidden parts.
  [[nodiscard]] CommandInfo describe() const;

  /// Sets the subcommand's action.
  void runs(Action action);

 private:
  CLI::App* app_;
  Action* action_;
};

}  // namespace padlock::tools
