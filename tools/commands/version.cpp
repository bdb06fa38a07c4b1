#include <fmt/format.h>

#include <memory>

#include "support/json_writer.h"
#include "tools/commands/command.h"

namespace padlock::tools {
namespace {

Outcome<ExitCode> version(const std::string& destination) {
  if (!destination.empty()) {
    JsonWriter json;
    json.begin_object().member("schema", 1).member("command", "version").member("version", padlock_version());
    json.member("llvm", PADLOCK_LLVM_VERSION).end_object();
    PADLOCK_CHECK(write_text(destination, std::move(json).take()));
  }
  if (destination == kStandardOutput) return ExitCode::ok;
  const std::string text = fmt::format("padlock {} (LLVM {})\n", padlock_version(), PADLOCK_LLVM_VERSION);
  PADLOCK_CHECK(write_text(kStandardOutput, text));
  return ExitCode::ok;
}

}  // namespace

void add_version(Subcommand& app) {
  Subcommand command = app.subcommand("version", "print the version");
  const auto destination = std::make_shared<std::string>();  // shared: the callback outlives this function
  command.json(*destination);
  command.examples("padlock version", "padlock version --json");
  command.runs([destination] { return version(*destination); });
}

}  // namespace padlock::tools
