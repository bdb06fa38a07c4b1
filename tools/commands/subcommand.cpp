#include "tools/commands/subcommand.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace padlock::tools {
namespace {

OptionInfo describe_option(const CLI::Option& option) {
  OptionInfo info{.name = option.get_single_name(), .help = option.get_description()};
  info.is_positional = option.get_positional();
  if (info.is_positional || option.get_items_expected_max() > 0) info.type = option.get_type_name();
  info.type = info.type.substr(0, info.type.find(':'));  // without the checks that CLI11 appends
  if (info.type.empty() && option.get_items_expected_max() > 0) info.type = "VALUE";
  if (!info.is_positional && !option.get_lnames().empty()) info.name = "--" + option.get_lnames().front();
  if (!option.get_snames().empty()) info.letter = "-" + option.get_snames().front();
  return info;
}

CommandInfo describe_app(const CLI::App& app) {
  CommandInfo info{.name = app.get_name(), .help = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) info.options.push_back(describe_option(*option));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    info.commands.push_back(describe_app(*below));
  return info;
}

}  // namespace

Subcommand Subcommand::subcommand(const std::string& name, const std::string& help) {
  return {*app_->add_subcommand(name, help), *action_};
}

void Subcommand::require_subcommand() { app_->require_subcommand(1); }
void Subcommand::hide() { app_->group(""); }

void Subcommand::program(std::string& file, const std::string& type) {
  app_->add_option("program", file, "the program's file; - is the standard input")->required()->type_name(type);
}

void Subcommand::word(std::string& value, const std::string& type, const std::string& help) {
  app_->add_option("word", value, help)->required()->type_name(type);
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

CommandInfo Subcommand::describe() const { return describe_app(*app_); }

void Subcommand::runs(Action action) {
  app_->callback([into = action_, action = std::move(action)] { *into = action; });
}

}  // namespace padlock::tools
