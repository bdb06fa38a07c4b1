#include <fmt/format.h>

#include <memory>
#include <optional>

#include "tools/commands/command.h"
#include "tools/commands/open.h"
#include "tools/text/waiting.h"

namespace padlock::tools {
namespace {

struct ProveOptions {
  std::string program;
  std::string target = "host";
  std::string config;
  std::string json;
  bool all_configs = false;
};

Outcome<ExitCode> prove(const ProveOptions& options) {
  PADLOCK_TRY(const auto context, open_context());
  PADLOCK_TRY(const auto program, load_program(context, options.program));
  if (options.all_configs && !options.config.empty())
    return fail(ExitCode::usage, "expected --config or --all-configs, found both");
  std::optional<Waiting> waiting(std::in_place, fmt::format("proving {} for {}", program.name(), options.target));
  PADLOCK_TRY(const auto proofs, or_compile_failure(program.prove({.target = options.target, .config = options.config},
                                                                  options.all_configs),
                                                    options.program));
  waiting.reset();
  PADLOCK_CHECK(print(options.json, std::string(proofs.json.view()), std::string(proofs.report.view())));
  return proofs.refuted > 0 ? ExitCode::mismatch : ExitCode::ok;
}

}  // namespace

void add_prove(Subcommand& app) {
  Subcommand command = app.subcommand("prove", "list what is proved of every access, and how it was decided");
  const auto options = std::make_shared<ProveOptions>();  // shared: the callback outlives this function
  command.program(options->program);
  command.option("--target", options->target, "TARGET", "host, host:NAME (an LLVM CPU) or sm_NN");
  command.option("--config", options->config, "CONFIG", "key=value,...: forces a config");
  command.flag("--all-configs", options->all_configs, "every config of the target's search space");
  command.json(options->json);
  command.examples("padlock prove examples/pad_relu.pad",
                   "padlock prove examples/pytorch_169760.pad --all-configs --json");
  command.runs([options] { return prove(*options); });
}

}  // namespace padlock::tools
