#include <memory>

#include "api/context.h"
#include "support/json_writer.h"
#include "tools/command.h"
#include "tools/emit_program.h"

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

Outcome<api::Stage> parse_stage(const std::string& text) {
  if (text == "ir") return api::Stage::ir;
  if (text == "kernel") return api::Stage::kernel;
  if (text == "schedule") return api::Stage::schedule;
  if (text == "llvm") return api::Stage::llvm;
  if (text == "ptx") return api::Stage::ptx;
  if (text == "asm") return api::Stage::assembly;
  return fail(ExitCode::usage, "expected --stage=ir, kernel, schedule, llvm, ptx or asm, found '" + text + "'");
}

Outcome<ExitCode> emit(const EmitOptions& options) {
  const auto stage = parse_stage(options.stage);
  if (!stage) return std::unexpected(stage.error());
  const auto program = load_inside_program(options.program);
  if (!program) return std::unexpected(program.error());
  api::Context context;
  const auto text = context.emit(
      *program, *stage, {.target = options.target, .config = options.config, .bounds_check = options.bounds_check});
  if (!text) return compile_failure(text.error(), options.program);
  std::string json;
  if (!options.json.empty()) {
    JsonWriter writer;
    writer.begin_object().member("schema", 1).member("command", "emit").member("program", program->ir().name());
    writer.member("stage", options.stage).member("target", options.target).member("text", *text).end_object();
    json = std::move(writer).take();
    if (auto written = write_text(options.json, json); !written) return std::unexpected(written.error());
  }
  if (options.json == kStandardOutput) return ExitCode::ok;
  if (auto written = write_text(kStandardOutput, *text); !written) return std::unexpected(written.error());
  return ExitCode::ok;
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
