#include <fmt/format.h>

#include <memory>

#include "support/json_writer.h"
#include "tools/commands/command.h"

namespace padlock::tools {
namespace {

Outcome<ExitCode> version(const std::string& destination) {
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "version").member("version", padlock_version());
  json.member("llvm", PADLOCK_LLVM_VERSION).end_object();
  return print(destination, std::move(json).take(),
               fmt::format("padlock {} (LLVM {})\n", padlock_version(), PADLOCK_LLVM_VERSION));
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
