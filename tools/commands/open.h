#pragma once

#include <string>

#include "tools/commands/subcommand.h"
#include "tools/failure.h"
#include "tools/program_file.h"

// Opens what commands work on: a context with its tuning cache, programs and packs.
namespace padlock::tools {

/// From which cache configs are taken: --cache and --cache-mode.
struct CacheChoice {
  std::string file;
  std::string mode;  ///< empty: read where a file is given, else off
};
void add_cache_options(Subcommand& command, CacheChoice& choice);
/// The options of a context that uses it; they borrow `choice`. Failure: usage, for a mode that there is not.
[[nodiscard]] Outcome<padlock_context_options> context_options(const CacheChoice& choice);

/// A context of the library. Warnings go to stderr, whatever logger the options have. Failure: cache, where a file that
/// is required cannot be used.
[[nodiscard]] Outcome<lib::Context> open_context(padlock_context_options options = lib::Context::options());
/// Failures: usage for what is no device's name; unavailable.
[[nodiscard]] Outcome<void> check_device(const lib::Context& context, const std::string& device);

/// Makes a program's text of an ONNX model's file, or of the standard input, "-". Failures exit with `file` and begin
/// with the path.
[[nodiscard]] Outcome<lib::OnnxImport> import_model(const lib::Context& context, const std::string& path,
                                                    const std::vector<std::string>& outputs = {});
[[nodiscard]] inline bool is_model(const std::string& path) { return kind_of_file(path) == FileKind::model; }
/// Reads and verifies a program file, or imports an ONNX model, or takes either from the standard input, "-". Failures
/// exit with `file`, for a pack too; they begin with the path and, where there is one, the position.
[[nodiscard]] Outcome<lib::Program> load_program(const lib::Context& context, const std::string& path);

/// Reads a pack. Failures exit with `file` and begin with the path.
[[nodiscard]] Outcome<lib::Pack> load_pack(const lib::Context& context, const std::string& path);
/// For errors of a pack's program, once the pack itself is read: which code follows from the kind of error.
[[nodiscard]] std::unexpected<Failure> pack_failure(const lib::Error& error, const std::string& file);

}  // namespace padlock::tools
