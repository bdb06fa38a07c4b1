#include <memory>

#include "support/json_writer.h"
#include "tools/commands/command.h"
#include "tools/commands/open.h"

namespace padlock::tools {
namespace {

struct EmitOptions {
  std::string program;
  std::string stage = "ir";
  std::string target = "host";
  std::string config;
  std::string json;
  bool bounds_check = false;
};

Outcome<ExitCode> emit(const EmitOptions& options) {
  PADLOCK_TRY(const auto context, open_context());
  PADLOCK_TRY(const auto program, load_program(context, options.program));
  // An unknown target is reported even for a stage that all targets share.
  PADLOCK_TRY(const auto target, or_compile_failure(context.describe_target(options.target), options.program));
  PADLOCK_TRY(const auto text, or_compile_failure(program.emit(options.stage, {.target = options.target,
                                                                               .config = options.config,
                                                                               .bounds_check = options.bounds_check}),
                                                  options.program));
  JsonWriter json;
  json.begin_object().member("schema", 1).member("command", "emit").member("program", program.name());
  json.member("stage", options.stage).member("target", options.target).member("text", text.view()).end_object();
  return print(options.json, std::move(json).take(), std::string(text.view()));
}

}  // namespace

void add_emit(Subcommand& app) {
  Subcommand command = app.subcommand("emit", "print one stage of compiling a program");
  const auto options = std::make_shared<EmitOptions>();  // shared: the callback outlives this function
  command.program(options->program);
  command.option("--stage", options->stage, "STAGE", "ir, kernel, schedule, llvm, ptx or asm");
  command.option("--target", options->target, "TARGET", "host, host:NAME (an LLVM CPU) or sm_NN");
  command.option("--config", options->config, "CONFIG", "key=value,...: forces a config");
  command.flag("--bounds-check", options->bounds_check, "test every access");
  command.json(options->json);
  command.examples("padlock emit examples/pad_relu.pad", "padlock emit examples/pad_relu.pad --stage=llvm");
  command.runs([options] { return emit(*options); });
}

}  // namespace padlock::tools
