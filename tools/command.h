#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

#include "tools/failure.h"
#include "tools/output_files.h"

namespace padlock::tools {

/// What runs once the command line is parsed.
using Action = std::function<Outcome<ExitCode>()>;

// One a file: each adds its subcommand, which sets `action` when it is the one that was given.
void add_run(CLI::App& app, Action& action);
void add_emit(CLI::App& app, Action& action);
void add_prove(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_tune(CLI::App& app, Action& action);
void add_cache(CLI::App& app, Action& action);
void add_devices(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);
void add_worker(CLI::App& app, Action& action);

/// The name that main gives a --json without a file.
inline constexpr const char* kStandardOutput = "-";

/// --json[=FILE]: `destination` stays empty where it is not given.
void add_json_option(CLI::App& command, std::string& destination);
/// An option that may be given several times, one value each time.
void add_repeated_option(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                         const std::string& help);
/// Puts examples at the end of the help; each works as typed in the repository's root.
void add_examples(CLI::App& command, const std::string& first, const std::string& second);

/// A target's description, "CPU +feature,-feature,...", as people want it: the CPU and how many features it has.
[[nodiscard]] std::string target_summary(const std::string& description);

/// Writes to stdout, or to a file that appears whole or not at all.
[[nodiscard]] Outcome<void> write_text(const std::string& destination, const std::string& text);
/// The same, and an interruption removes the file.
[[nodiscard]] Outcome<void> write_text(OutputFiles& files, const std::string& destination, const std::string& text);

}  // namespace padlock::tools
