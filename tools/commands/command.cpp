#include "tools/commands/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>
#include <ranges>
#include <span>

#include "support/file.h"
#include "support/messages/suggestion.h"
#include "tools/commands/command_line.h"

namespace padlock::tools {
namespace {

/// Returns the value of the last --json, kStandardOutput if it has none; nullopt without --json.
std::optional<std::string> json_destination(std::span<const std::string> arguments) {
  constexpr std::string_view kOption = "--json";
  std::optional<std::string> destination;
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == kOption) destination = kStandardOutput;
    if (argument.starts_with("--json=")) destination = argument.substr(kOption.size() + 1);
  }
  return destination;
}

/// Returns the words before the first option or file: "cache show".
std::string command_name(std::span<const std::string> arguments) {
  if (arguments.empty() || arguments[0].starts_with("-")) return {};
  return arguments[0] == "cache" && arguments.size() > 1 ? arguments[0] + " " + arguments[1] : arguments[0];
}

/// Reports a failure: to people on stderr, and to programs in the requested JSON.
int report(const Failure& failure, std::span<const std::string> arguments) {
  for (const FailureItem& error : failure.errors) say(fmt::format("padlock: error: {}\n", error.text));
  if (const auto destination = json_destination(arguments); destination && !failure.has_report) {
    const auto written = write_text(*destination, to_json(failure, command_name(arguments)));
    if (!written) say(fmt::format("padlock: error: {}\n", written.error().errors[0].text));
    std::fflush(stdout);
  }
  return static_cast<int>(failure.code);
}

/// Gives a --json without a value the value "-": CLI11 would otherwise take the next argument for it.
void complete_json_flag(std::vector<std::string>& arguments) {
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument == "--json") argument = fmt::format("--json={}", kStandardOutput);
  }
}

/// Failure: usage, with the closest name, for an unknown subcommand or an option that the subcommand does not have.
/// Values of options are not checked.
Outcome<void> check_names(const CommandInfo& command, const std::string& words,
                          std::span<const std::string> arguments) {
  if (!command.commands.empty() && !arguments.empty() && !arguments.front().starts_with("-")) {
    const std::string& word = arguments.front();
    if (const CommandInfo* below = command.find(word))
      return check_names(*below, words + " " + word, arguments.subspan(1));
    if (word == kWorkerCommand && words == "padlock") return {};
    return fail(ExitCode::usage,
                fmt::format("unknown subcommand '{}'{} ({} -h lists them)", word,
                            did_you_mean(word, command.commands | std::views::transform(&CommandInfo::name)), words));
  }
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string name = argument.substr(0, argument.find('='));
    if (!name.starts_with("--") || std::ranges::find(command.options, name, &OptionInfo::name) != command.options.end())
      continue;
    return fail(ExitCode::usage,
                fmt::format("{} has no option '{}'{}", words, name,
                            did_you_mean(name, command.options | std::views::transform(&OptionInfo::name))));
  }
  return {};
}

/// Turns "padlock help run" into "padlock run --help".
void complete_help(std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != "help") return;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
}

/// Returns the text below every help.
std::string help_footer() {
  std::string text = "Exit codes:\n";
  for (const ExitMeaning& meaning : kExitMeanings)
    text += fmt::format("  {:>3}  {}\n", static_cast<int>(meaning.code), meaning.text);
  return text + fmt::format("Documentation: {}", kDocumentation);
}

void add_all(Subcommand& all) {
  add_run(all);
  add_emit(all);
  add_import(all);
  add_prove(all);
  add_explain(all);
  add_pack(all);
  add_tune(all);
  add_bench(all);
  add_cache(all);
  add_devices(all);
  add_version(all);
  add_completion(all);
  add_worker(all);
}

/// Returns a message that, unlike CLI11's "program is required", says where the argument stands.
std::string lacking(const CLI::ParseError& error, const std::string& words) {
  const std::string_view what = error.what();
  if (what.starts_with("A subcommand")) return fmt::format("expected a subcommand; {} -h lists them", words);
  std::string operand(what.substr(0, what.find(" is required")));
  for (char& c : operand)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return fmt::format("expected {} after '{}'; {} -h has two examples", operand, words, words);
}

Outcome<ExitCode> parse_and_run(std::vector<std::string> arguments) {
  CLI::App app("Compiles and runs padding programs over symbolic sizes.", "padlock");
  app.require_subcommand(1);
  app.set_version_flag("-V,--version", version_line(), "print the version");
  app.footer(help_footer());
  Action action;
  Subcommand all(app, action);
  add_all(all);
  complete_help(arguments);
  PADLOCK_CHECK(check_names(all.describe(), "padlock", arguments));
  const std::string words = command_name(arguments).empty() ? "padlock" : "padlock " + command_name(arguments);
  complete_json_flag(arguments);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the last argument first
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
      return fail(ExitCode::usage, lacking(error, words));
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) return fail(ExitCode::usage, error.what());
    app.exit(error);  // prints the requested help
    return ExitCode::ok;
  }
  return action();
}

/// Failure: output that could not be written, even if the rest succeeded.
Outcome<void> finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return fail(ExitCode::file, fmt::format("cannot write to stdout: {}", std::strerror(errno)));
}

}  // namespace

Outcome<void> write_text(const std::string& destination, const std::string& text, OutputFiles* files) {
  if (destination == kStandardOutput) {
    std::fwrite(text.data(), 1, text.size(), stdout);  // finish_output reports errors
    return {};
  }
  PADLOCK_TRY(AtomicFile file,
              or_fail(ExitCode::file, files != nullptr ? files->create(destination) : AtomicFile::create(destination)));
  PADLOCK_CHECK(or_fail(ExitCode::file, file.write(text)));
  return or_fail(ExitCode::file, file.commit());
}

Outcome<ExitCode> print(const std::string& destination, const std::string& json, const std::string& text, bool quiet,
                        OutputFiles* files) {
  if (!destination.empty()) PADLOCK_CHECK(write_text(destination, json, files));
  if (destination != kStandardOutput && !quiet) PADLOCK_CHECK(write_text(kStandardOutput, text));
  return ExitCode::ok;
}

int run_command_line(std::vector<std::string> arguments) {
  // All code below returns its errors; exceptions of the standard library and CLI11 end here.
  try {
    const Outcome<ExitCode> outcome = parse_and_run(arguments);
    const Outcome<void> finished = finish_output();
    if (!outcome) return report(outcome.error(), arguments);
    if (!finished) return report(finished.error(), {});
    return static_cast<int>(*outcome);
  } catch (const std::bad_alloc&) {
    return report(failure_of(ExitCode::mismatch, "out of memory"), {});
  } catch (const std::exception& error) {
    return report(failure_of(ExitCode::internal, error.what()), {});
  }
}

}  // namespace padlock::tools
