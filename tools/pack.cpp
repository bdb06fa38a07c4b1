#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "tools/cache_choice.h"
#include "tools/command.h"
#include "tools/context.h"
#include "tools/load_pack.h"
#include "tools/load_program.h"
#include "tools/pack_report.h"

namespace padlock::tools {
namespace {

struct PackOptions {
  std::vector<std::string> files;
  std::string targets = "host";
  std::string output;
  CacheChoice cache;
  std::string json;
  bool list = false;
  bool quiet = false;
};

/// "host,sm_90" in its parts.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts = {""};
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Outcome<void> print(const PackOptions& options, const lib::Pack& pack) {
  const auto contents = pack.describe();
  if (!contents) return fail(ExitCode::internal, contents.error());
  if (!options.json.empty())
    if (auto written = write_text(options.json, std::string(contents->view())); !written) return written;
  if (options.quiet || options.json == kStandardOutput) return {};
  const auto report = JsonValue::parse(contents->view());
  if (!report) return std::unexpected(report.error());
  return write_text(kStandardOutput, pack_text(*report));
}

Outcome<ExitCode> list(const PackOptions& options) {
  if (!options.output.empty() || options.files.size() != 1)
    return fail(ExitCode::usage, "--list takes one pack and no --output");
  const auto context = open_context();
  if (!context) return std::unexpected(context.error());
  const auto pack = load_pack(*context, options.files.front());
  if (!pack) return std::unexpected(pack.error());
  if (auto printed = print(options, *pack); !printed) return std::unexpected(printed.error());
  return ExitCode::ok;
}

Outcome<lib::Pack> compile(const PackOptions& options) {
  auto chosen = context_options(options.cache);
  if (!chosen) return std::unexpected(std::move(chosen).error());
  // The machine that runs the pack is another one: its cores and caches are not asked for.
  chosen->cache_match = PADLOCK_MATCH_LOOSE;
  const auto context = open_context(*chosen);
  if (!context) return std::unexpected(context.error());
  std::vector<lib::Program> programs;
  for (const std::string& file : options.files) {
    auto program = load_program(*context, file);
    if (!program) return std::unexpected(std::move(program).error());
    programs.push_back(*std::move(program));
  }
  auto pack = lib::Pack::make(programs, split(options.targets));
  if (!pack) return compile_failure(pack.error(), {});
  return *std::move(pack);
}

Outcome<ExitCode> make(const PackOptions& options) {
  if (options.output.empty()) return fail(ExitCode::usage, "expected --output=F.pack");
  OutputFiles files;
  const auto pack = compile(options);
  if (!pack) return std::unexpected(pack.error());
  if (auto written = write_text(files, options.output, std::string(pack->bytes())); !written)
    return std::unexpected(written.error());
  if (auto printed = print(options, *pack); !printed) return std::unexpected(printed.error());
  return ExitCode::ok;
}

}  // namespace

void add_pack(Subcommand& app) {
  Subcommand command = app.subcommand("pack", "compile programs into one file that runs without a compiler");
  const auto options = std::make_shared<PackOptions>();  // shared: the callback outlives this function
  command.files(options->files, 1, 4096, "the programs' files; with --list, a pack");
  command.option("--target", options->targets, "TARGET,...", "host, host:NAME (an LLVM CPU) or sm_NN; default: host");
  command.option("--output", options->output, "F.pack", "the pack");
  add_cache_options(command, options->cache);
  command.flag("--list", options->list, "print what a pack holds");
  command.json(options->json);
  command.flag("--quiet", options->quiet, "print errors alone");
  command.examples(
      "padlock pack examples/pad_relu.pad examples/concat_slice.pad --target=host,sm_90 --output=/tmp/two.pack",
      "padlock pack --list /tmp/two.pack --json");
  command.runs([options] { return options->list ? list(*options) : make(*options); });
}

}  // namespace padlock::tools
