#include <memory>

#include "tools/commands/command.h"
#include "tools/commands/open.h"

namespace padlock::tools {
namespace {

struct ImportOptions {
  std::string model;
  std::string output = kStandardOutput;
  std::vector<std::string> to;
  std::string json;
};

Outcome<ExitCode> import(const ImportOptions& options) {
  PADLOCK_TRY(const auto context, open_context());
  PADLOCK_TRY(const auto made, import_model(context, options.model, options.to));
  const std::string text(made.text.view());
  if (options.output == kStandardOutput) return print(options.json, std::string(made.interface.view()), text);
  PADLOCK_CHECK(write_text(options.output, text));
  return print(options.json, std::string(made.interface.view()), "", true);
}

}  // namespace

void add_import(Subcommand& app) {
  Subcommand command = app.subcommand("import", "make a program of an ONNX model");
  const auto options = std::make_shared<ImportOptions>();  // shared: the callback outlives this function
  command.program(options->model, "MODEL.onnx | -");
  command.option("--output", options->output, "FILE", "where the program goes; else it is printed");
  command.repeated(
      "--to", options->to,
      "NAME: a value of the model, for the part that computes it; what nodes compute of which no program can "
      "be made are its inputs");
  command.json(options->json);
  command.examples("padlock import examples/pad_to_multiple.onnx",
                   "padlock import examples/pad_to_multiple.onnx --output=/tmp/pad_to_multiple.pad --json");
  command.runs([options] { return import(*options); });
}

}  // namespace padlock::tools
