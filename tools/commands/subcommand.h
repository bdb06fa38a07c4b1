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

/// Action runs once the command line is parsed.
using Action = std::function<Outcome<ExitCode>()>;

/// The name that main gives a --json without a file.
inline constexpr const char* kStandardOutput = "-";

/// A subcommand that is being declared. What options are parsed into must live until the action has run. CLI11 stays
/// behind it: a file that includes its headers compiles for seconds longer.
class Subcommand {
 public:
  /// The whole command, which sets `action` to the action of the subcommand that is given. Borrows both.
  Subcommand(CLI::App& app, Action& action) : app_(&app), action_(&action) {}

  /// A subcommand of this one.
  [[nodiscard]] Subcommand subcommand(const std::string& name, const std::string& help);
  /// One of the subcommands must be given.
  void require_subcommand();
  /// Leaves it out of the help.
  void hide();

  /// The file that it works on, without a name in front of it. `type`: of which kinds.
  void program(std::string& file, const std::string& type = "PROGRAM.pad | MODEL.onnx | -");
  /// A word without a name in front of it.
  void word(std::string& value, const std::string& type, const std::string& help);
  /// `least` to `most` names of files, without a name in front of them.
  void files(std::vector<std::string>& files, int least, int most, const std::string& help);
  void option(const std::string& name, std::string& value, const std::string& type, const std::string& help);
  /// A number from 0.
  void option(const std::string& name, std::uint64_t& value, const std::string& type, const std::string& help);
  void option(const std::string& name, std::optional<std::uint64_t>& value, const std::string& type,
              const std::string& help);
  /// A number from `least` to `most`.
  void option(const std::string& name, std::int64_t& value, std::int64_t least, std::int64_t most,
              const std::string& type, const std::string& help);
  /// An option that may be given several times, one value each time.
  void repeated(const std::string& name, std::vector<std::string>& values, const std::string& help);
  void flag(const std::string& name, bool& value, const std::string& help);
  /// --json[=FILE]: `destination` stays empty where it is not given.
  void json(std::string& destination);
  /// Examples at the end of the help; each works as typed in the repository's root.
  void examples(const std::string& first, const std::string& second);

  /// The whole of it, as it is parsed; without what is hidden.
  [[nodiscard]] CommandInfo describe() const;

  /// Sets the action that it runs.
  void runs(Action action);

 private:
  CLI::App* app_;
  Action* action_;
};

}  // namespace padlock::tools
