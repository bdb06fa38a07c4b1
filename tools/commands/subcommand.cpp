#include "tools/commands/subcommand.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace padlock::tools {

Subcommand Subcommand::subcommand(const std::string& name, const std::string& help) {
  return {*app_->add_subcommand(name, help), *action_};
}

void Subcommand::require_subcommand() { app_->require_subcommand(1); }
void Subcommand::hide() { app_->group(""); }

void Subcommand::program(std::string& file) {
  app_->add_option("program", file, "the program's file")->required()->type_name("PROGRAM.pad");
}

void Subcommand::files(std::vector<std::string>& files, int least, int most, const std::string& help) {
  app_->add_option("files", files, help)->required(least > 0)->expected(std::max(least, 1), most)->type_name("FILE");
}

void Subcommand::option(const std::string& name, std::string& value, const std::string& type, const std::string& help) {
  app_->add_option(name, value, help)->type_name(type);
}

void Subcommand::option(const std::string& name, std::uint64_t& value, const std::string& type,
                        const std::string& help) {
  app_->add_option(name, value, help)->type_name(type)->check(CLI::NonNegativeNumber);
}

void Subcommand::option(const std::string& name, std::optional<std::uint64_t>& value, const std::string& type,
                        const std::string& help) {
  app_->add_option(name, value, help)->type_name(type)->check(CLI::NonNegativeNumber);
}

void Subcommand::option(const std::string& name, std::int64_t& value, std::int64_t least, std::int64_t most,
                        const std::string& type, const std::string& help) {
  app_->add_option(name, value, help)->type_name(type)->check(CLI::Range(least, most));
}

void Subcommand::repeated(const std::string& name, std::vector<std::string>& values, const std::string& help) {
  app_->add_option(name, values, help)->allow_extra_args(false)->type_name("");
}

void Subcommand::flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
}

void Subcommand::json(std::string& destination) {
  option("--json", destination, "[=FILE]", "print one JSON object instead of text, or write it to FILE");
}

void Subcommand::examples(const std::string& first, const std::string& second) {
  app_->footer(fmt::format("Examples:\n  {}\n  {}", first, second));
}

void Subcommand::runs(Action action) {
  app_->callback([into = action_, action = std::move(action)] { *into = action; });
}

}  // namespace padlock::tools
