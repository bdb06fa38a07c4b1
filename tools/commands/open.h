#pragma once

#include <string>

#include "tools/commands/subcommand.h"
#include "tools/failure.h"
#include "tools/program_file.h"

// Opens contexts with their tuning cache, programs and packs.
namespace padlock::tools {

/// The cache from which configs are taken: --cache and --cache-mode.
struct CacheChoice {
  std::string file;
  std::string mode;  ///< empty: read if a file is given, else off
};
void add_cache_options(Subcommand& command, CacheChoice& choice);
/// Returns the options of a context that uses the cache; they borrow `choice`. Failure: usage for an unknown mode.
[[nodiscard]] Outcome<padlock_context_options> context_options(const CacheChoice& choice);

/// Creates a context. Warnings go to stderr, whatever logger the options have. Failure: cache, for a required file that
/// cannot be used.
[[nodiscard]] Outcome<lib::Context> open_context(padlock_context_options options = lib::Context::options());
/// Failures: usage for an unknown device name; unavailable.
[[nodiscard]] Outcome<void> check_device(const lib::Context& context, const std::string& device);

/// Makes a program's text from an ONNX model in a file, or in the standard input, "-". Failures exit with `file` and
/// begin with the path.
[[nodiscard]] Outcome<lib::OnnxImport> import_model(const lib::Context& context, const std::string& path,
                                                    const std::vector<std::string>& outputs = {});
[[nodiscard]] inline bool is_model(const std::string& path) { return kind_of_file(path) == FileKind::model; }
/// Reads and verifies a program file, or imports an ONNX model. "-" is the standard input. Failures exit with `file`,
/// also for a pack. They begin with the path and, if known, the position.
[[nodiscard]] Outcome<lib::Program> load_program(const lib::Context& context, const std::string& path);

/// Reads a pack. Failures exit with `file` and begin with the path.
[[nodiscard]] Outcome<lib::Pack> load_pack(const lib::Context& context, const std::string& path);
/// Makes the failure for an error of a program in a pack that was read. The kind of error decides the exit code.
[[nodiscard]] std::unexpected<Failure> pack_failure(const lib::Error& error, const std::string& file);

}  // namespace padlock::tools
