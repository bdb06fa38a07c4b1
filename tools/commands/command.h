#pragma once

#include <string>

#include "tools/arrays/output_files.h"
#include "tools/commands/subcommand.h"
#include "tools/failure.h"

namespace padlock::tools {

// Each function adds a subcommand, and has a file of its own.
void add_run(Subcommand& app);
void add_emit(Subcommand& app);
void add_prove(Subcommand& app);
void add_explain(Subcommand& app);
void add_pack(Subcommand& app);
void add_tune(Subcommand& app);
void add_bench(Subcommand& app);
void add_cache(Subcommand& app);
void add_import(Subcommand& app);
void add_devices(Subcommand& app);
void add_version(Subcommand& app);
void add_completion(Subcommand& app);
void add_worker(Subcommand& app);

/// The subcommand that a tuner's worker process runs; no help lists it.
inline constexpr const char* kWorkerCommand = "worker";
/// "padlock 0.1.0 (LLVM 22.1.0)".
[[nodiscard]] std::string version_line();

/// Writes to stdout, or to a file that appears whole or not at all. If the file is one of `files`, an interruption
/// removes its unfinished part.
[[nodiscard]] Outcome<void> write_text(const std::string& destination, const std::string& text,
                                       OutputFiles* files = nullptr);
/// Writes `json` to --json's destination, unless that is empty. Writes `text` to stdout, unless `quiet` is set or the
/// JSON goes there.
[[nodiscard]] Outcome<ExitCode> print(const std::string& destination, const std::string& json, const std::string& text,
                                      bool quiet = false, OutputFiles* files = nullptr);

}  // namespace padlock::tools
