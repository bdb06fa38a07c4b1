#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "tools/commands/command.h"
#include "tools/commands/open.h"
#include "tools/text/pack_report.h"
#include "tools/text/waiting.h"

namespace padlock::tools {
namespace {

struct PackOptions {
  std::vector<std::string> files;
  std::string targets = "host";
  std::string output;
  CacheChoice cache;
  std::string assembler;
  std::string json;
  bool list = false;
  bool quiet = false;
};

/// Splits "host,sm_90" at the commas.
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

Outcome<ExitCode> print_contents(const PackOptions& options, const lib::Pack& pack) {
  PADLOCK_TRY(const auto contents, or_fail(ExitCode::internal, pack.describe()));
  PADLOCK_TRY(const auto report, JsonValue::parse(contents.view()));
  return print(options.json, std::string(contents.view()), pack_text(report), options.quiet);
}

Outcome<ExitCode> list(const PackOptions& options) {
  if (!options.output.empty() || options.files.size() != 1)
    return fail(ExitCode::usage, "--list takes one pack and no --output");
  PADLOCK_TRY(const auto context, open_context());
  PADLOCK_TRY(const auto pack, load_pack(context, options.files.front()));
  return print_contents(options, pack);
}

Outcome<lib::Pack> compile(const PackOptions& options) {
  PADLOCK_TRY(auto chosen, context_options(options.cache));
  // Another machine will run the pack, so its cores and caches need not match.
  chosen.cache_match = PADLOCK_MATCH_LOOSE;
  if (!options.assembler.empty()) chosen.assembler = options.assembler.c_str();
  PADLOCK_TRY(const auto context, open_context(chosen));
  std::vector<lib::Program> programs;
  for (const std::string& file : options.files) {
    PADLOCK_TRY(auto program, load_program(context, file));
    programs.push_back(std::move(program));
  }
  const Waiting waiting(fmt::format("compiling {} programs for {}", programs.size(), options.targets));
  return or_compile_failure(lib::Pack::make(programs, split(options.targets)), {});
}

Outcome<ExitCode> make(const PackOptions& options) {
  if (options.output.empty()) return fail(ExitCode::usage, "expected --output=F.pack");
  OutputFiles files;
  PADLOCK_TRY(const auto pack, compile(options));
  PADLOCK_CHECK(write_text(options.output, std::string(pack.bytes()), &files));
  return print_contents(options, pack);
}

}  // namespace

void add_pack(Subcommand& app) {
  Subcommand command = app.subcommand("pack", "compile programs into one file that runs without a compiler");
  const auto options = std::make_shared<PackOptions>();  // shared: the callback outlives this function
  command.files(options->files, 1, 4096, "the programs' files; with --list, a pack");
  command.option("--target", options->targets, "TARGET,...", "host, host:NAME (an LLVM CPU) or sm_NN; default: host");
  command.option("--output", options->output, "F.pack", "the pack");
  add_cache_options(command, options->cache);
  command.option("--assembler", options->assembler, "PTXAS",
                 "CUDA's ptxas, a path or a name on PATH: cubins beside PTX");
  command.flag("--list", options->list, "print what a pack holds");
  command.json(options->json);
  command.flag("--quiet", options->quiet, "print errors alone");
  command.examples(
      "padlock pack examples/pad_relu.pad examples/concat_slice.pad --target=host,sm_90 --output=/tmp/two.pack",
      "padlock pack --list /tmp/two.pack --json");
  command.runs([options] { return options->list ? list(*options) : make(*options); });
}

}  // namespace padlock::tools
