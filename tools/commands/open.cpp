#include "tools/commands/open.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <utility>

#include "support/file.h"
#include "support/messages/suggestion.h"
#include "tools/text/waiting.h"

namespace padlock::tools {
namespace {

constexpr std::int64_t kMostModelBytes = std::int64_t{512} << 20;
// More than a program may have, so that the library reports a text that is too long.
constexpr std::int64_t kMostTextBytes = std::int64_t{64} << 20;
constexpr std::int64_t kMostPackBytes = std::int64_t{4} << 30;

constexpr std::array kModes =
    std::to_array<std::pair<std::string_view, padlock_cache_mode>>({{"off", PADLOCK_CACHE_OFF},
                                                                    {"read", PADLOCK_CACHE_READ},
                                                                    {"read-write", PADLOCK_CACHE_READ_WRITE},
                                                                    {"require", PADLOCK_CACHE_REQUIRE}});

void warn(void*, padlock_log_level level, const char* message) {
  if (level >= PADLOCK_LOG_WARNING) say(fmt::format("padlock: warning: {}\n", message));
}

}  // namespace

void add_cache_options(Subcommand& command, CacheChoice& choice) {
  command.option("--cache", choice.file, "FILE", "the tuning cache that configs are taken from");
  command.option("--cache-mode", choice.mode, "MODE", "off, read, read-write or require (a miss is an error)");
}

Outcome<padlock_context_options> context_options(const CacheChoice& choice) {
  const std::string name = !choice.mode.empty() ? choice.mode : choice.file.empty() ? "off" : "read";
  const auto* const mode = std::ranges::find(kModes, name, [](const auto& entry) { return entry.first; });
  if (mode == kModes.end())
    return fail(ExitCode::usage,
                fmt::format("--cache-mode: expected off, read, read-write or require, found '{}'{}", name,
                            did_you_mean(name, kModes | std::views::transform([](const auto& e) { return e.first; }))));
  padlock_context_options options = lib::Context::options();
  options.cache_mode = mode->second;
  if (!choice.file.empty()) options.cache_file = choice.file.c_str();
  return options;
}

Outcome<lib::Context> open_context(padlock_context_options options) {
  // With PADLOCK_LOG set, the library itself prints warnings.
  const char* const asked = std::getenv("PADLOCK_LOG");
  options.log = asked == nullptr || *asked == '\0' ? warn : nullptr;
  return or_fail(ExitCode::cache, lib::Context::create(options));
}

Outcome<void> check_device(const lib::Context& context, const std::string& device) {
  const lib::Status status = context.check_device(device);
  if (status) return {};
  const bool unknown = status.error().status() == PADLOCK_INVALID_ARGUMENT;
  return fail(unknown ? ExitCode::usage : ExitCode::unavailable, status.error());
}

Outcome<lib::OnnxImport> import_model(const lib::Context& context, const std::string& path,
                                      const std::vector<std::string>& outputs) {
  PADLOCK_TRY(const std::string bytes, read_program_file(path, kMostModelBytes));
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Waiting waiting(fmt::format("importing {}", path));
  return or_fail(ExitCode::file,
                 context.import_onnx(bytes.data(), bytes.size(), folder.empty() ? "." : folder, outputs), path);
}

Outcome<lib::Program> load_program(const lib::Context& context, const std::string& path) {
  const FileKind kind = kind_of_file(path);
  if (kind == FileKind::pack)
    return fail(ExitCode::file, fmt::format("{}: expected a program or an ONNX model, found a pack; write padlock run, "
                                            "or padlock pack --list",
                                            path));
  if (kind == FileKind::model) {
    PADLOCK_TRY(const lib::OnnxImport made, import_model(context, path));
    return or_fail(ExitCode::file, context.parse(made.text.view()), path);
  }
  if (path == kStandardInput) {
    PADLOCK_TRY(const std::string text, read_program_file(path, kMostTextBytes));
    return or_fail(ExitCode::file, context.parse(text), path);
  }
  auto program = context.load(path);
  if (program) return *std::move(program);
  // An error of the file system already names the path.
  const bool is_text_error = program.error().line() > 0;
  return fail(ExitCode::file, program.error(), is_text_error ? path : std::string());
}

Outcome<lib::Pack> load_pack(const lib::Context& context, const std::string& path) {
  if (path != kStandardInput) return or_fail(ExitCode::file, context.load_pack(path));
  PADLOCK_TRY(const std::string bytes, read_program_file(path, kMostPackBytes));
  return or_fail(ExitCode::file, context.read_pack(bytes.data(), bytes.size()), path);
}

std::unexpected<Failure> pack_failure(const lib::Error& error, const std::string& file) {
  if (error.status() == PADLOCK_UNAVAILABLE) return fail(ExitCode::unavailable, error, file);
  if (error.status() == PADLOCK_RESOURCE_EXHAUSTED) return fail(ExitCode::mismatch, error, file);
  return fail(ExitCode::file, error, file);
}

}  // namespace padlock::tools
