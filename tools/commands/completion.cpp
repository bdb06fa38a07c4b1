#include <fmt/format.h>

#include <memory>

#include "support/messages/suggestion.h"
#include "tools/commands/command.h"

namespace padlock::tools {
namespace {

Outcome<ExitCode> completion(const CommandInfo& command, const std::string& shell) {
  const std::string script = completion_script(command, shell);
  if (!script.empty()) return print("", "", script);
  return fail(ExitCode::usage, fmt::format("expected a shell (bash, zsh or fish), found '{}'{}", shell,
                                           did_you_mean(shell, values_of("SHELL"))));
}

}  // namespace

void add_completion(Subcommand& app) {
  Subcommand scripts = app.subcommand("completion", "print the script that completes this command in a shell");
  const auto shell = std::make_shared<std::string>();  // shared: the callback outlives this function
  scripts.word(*shell, "SHELL", "bash, zsh or fish");
  scripts.examples("padlock completion bash", "padlock completion fish");
  scripts.runs([app, shell] { return completion(app.describe(), *shell); });

  Subcommand manual = app.subcommand("man", "print the manual page");
  manual.examples("padlock man", "padlock help man");
  manual.runs([app] { return print("", "", manual_page(app.describe(), padlock_version())); });
}

}  // namespace padlock::tools
