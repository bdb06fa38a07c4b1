#include <memory>

#include "api/context.h"
#include "tools/command.h"
#include "tools/json_writer.h"
#include "tools/load_program.h"

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
  if (text == "llvm") return api::Stage::llvm;
  if (text == "ptx") return api::Stage::ptx;
  if (text == "asm") return api::Stage::assembly;
  return fail(ExitCode::usage, "expected --stage=ir, kernel, llvm, ptx or asm, found '" + text + "'");
}

Outcome<ExitCode> emit(const EmitOptions& options) {
  const auto stage = parse_stage(options.stage);
  if (!stage) return std::unexpected(stage.error());
  const auto program = load_program(options.program);
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

void add_emit(CLI::App& app, Action& action) {
  CLI::App& command = *app.add_subcommand("emit", "print one stage of compiling a program");
  const auto options = std::make_shared<EmitOptions>();  // shared: the callback outlives this function
  command.add_option("program", options->program, "the program's file")->required()->type_name("PROGRAM.pad");
  command.add_option("--stage", options->stage, "ir, kernel, llvm, ptx or asm")->type_name("STAGE");
  command.add_option("--target", options->target, "host, host:NAME (an LLVM CPU) or sm_NN")->type_name("TARGET");
  command.add_option("--config", options->config, "key=value,...: forces a config")->type_name("CONFIG");
  command.add_flag("--bounds-check", options->bounds_check, "test every access");
  add_json_option(command, options->json);
  add_examples(command, "padlock emit examples/pad_relu.pad", "padlock emit examples/pad_relu.pad --stage=llvm");
  command.callback([options, &action] { action = [options] { return emit(*options); }; });
}

}  // namespace padlock::tools
