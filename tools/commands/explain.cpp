#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "tools/arrays/arguments.h"
#include "tools/arrays/device_run.h"
#include "tools/commands/command.h"
#include "tools/commands/model_names.h"
#include "tools/commands/open.h"
#include "tools/text/json_value.h"
#include "tools/text/report_text.h"

namespace padlock::tools {
namespace {

struct ExplainOptions {
  std::string program;
  std::vector<std::string> binds;
  std::string device;
  std::string target;
  std::string config;
  CacheChoice cache;
  std::string json;
};

/// Prints "S + 3", or with a binding "S + 3 = 13".
std::string text_of(const JsonValue& quantity) {
  const std::string& expression = quantity["expression"].text();
  const JsonValue& value = quantity["value"];
  const std::string number = value.exists() ? std::to_string(value.integer()) : "";
  return number.empty() || number == expression ? expression : fmt::format("{} = {}", expression, number);
}

std::string list_of(const JsonValue& quantities) {
  std::string text;
  for (const JsonValue& quantity : quantities.items()) text += (text.empty() ? "" : ", ") + text_of(quantity);
  return "[" + text + "]";
}

std::string tensor_lines(const JsonValue& tensors) {
  std::string text;
  for (const JsonValue& tensor : tensors.items())
    text +=
        fmt::format("  {}: {}{}\n    strides {}\n    storage {} bytes\n", tensor["name"].text(), tensor["type"].text(),
                    list_of(tensor["extents"]), list_of(tensor["strides"]), text_of(tensor["storage_bytes"]));
  return text;
}

/// Returns `yes` or `no`; empty if the truth is unknown, as it is without sizes.
const char* verdict(const JsonValue& truth, const char* yes, const char* no) {
  return !truth.exists() ? "" : truth.truth() ? yes : no;
}

/// Prints "5120 bytes" of memory beside the tensors; empty without a binding, or if there is none.
std::string memory_line(const JsonValue& quantity, const char* what) {
  const JsonValue& bytes = quantity["value"];
  return bytes.exists() && bytes.integer() > 0 ? fmt::format("    {} of {} bytes\n", what, bytes.integer()) : "";
}

/// Cuts out the middle of a long comparison, which --json prints whole.
std::string shortened(const std::string& text) {
  constexpr std::size_t kMost = 120, kBegin = 72, kEnd = 32;
  if (text.size() <= kMost) return text;
  return text.substr(0, kBegin) + " ... " + text.substr(text.size() - kEnd);
}

std::string variant_lines(const JsonValue& variant) {
  std::string text = fmt::format("    variant {}{}, if\n", variant["name"].text(),
                                 verdict(variant["selected"], ", selected", ", not selected"));
  for (const JsonValue& guard : variant["guards"].items())
    text += fmt::format("      {}{}\n", shortened(guard["constraint"].text()),
                        verdict(guard["holds"], ": holds", ": does not hold"));
  return text + memory_line(variant["shared_bytes"], "  shared memory of a block");
}

std::string kernel_lines(const JsonValue& kernel) {
  std::vector<std::string> results;
  for (const JsonValue& result : kernel["results"].items()) results.push_back(result.text());
  std::string text = fmt::format("  {}: computes {} as rows {} x columns {}\n", kernel["name"].text(),
                                 fmt::join(results, ", "), text_of(kernel["rows"]), text_of(kernel["columns"]));
  text += memory_line(kernel["shared_bytes"], "a plan, made when sizes are bound,");
  for (const JsonValue& variant : kernel["variants"].items()) text += variant_lines(variant);
  return text;
}

/// Prints at most one screen: leaves out bounds, which the program or the language states, and cuts a long list.
std::string requirement_lines(const JsonValue& requirements) {
  constexpr int kShown = 12;
  std::string text = "checked when sizes are bound, besides each symbol's bounds\n";
  int count = 0;
  for (const JsonValue& requirement : requirements.items())
    if (!requirement["bound"].truth() && count++ < kShown)
      text += fmt::format("  {}  ({})\n", requirement["constraint"].text(), requirement["what"].text());
  if (count == 0) text += "  nothing: the rest is proved\n";
  if (count > kShown) text += fmt::format("  and {} more (--json has all)\n", count - kShown);
  return text;
}

std::string explanation_text(const JsonValue& e) {
  std::string text = fmt::format("program {}\ninputs\n{}results\n{}", e["program"].text(), tensor_lines(e["inputs"]),
                                 tensor_lines(e["results"]));
  text += "kernels\n";
  for (const JsonValue& kernel : e["kernels"].items()) text += kernel_lines(kernel);
  text += requirement_lines(e["requirements"]);
  return text + fmt::format("target\n  {}\nconfig\n  {}\n  {}\n", target_summary(e["target"].text()),
                            e["config"].text(), e["reason"].text());
}

Outcome<std::optional<lib::Binding>> binding_of(const lib::Context& context, const lib::Program& program,
                                                const ExplainOptions& options) {
  if (options.binds.empty()) return std::optional<lib::Binding>();
  PADLOCK_TRY(auto symbols, parse_bind(options.binds));
  PADLOCK_CHECK(take_model_symbols(context, options.program, symbols));
  PADLOCK_CHECK(check_symbols(program, symbols));
  lib::Binding binding;
  binding.unplaced = true;
  for (const auto& [name, value] : symbols) binding.dims.set(name, value);
  const auto missing = program.missing(binding);
  if (!missing) return fail(ExitCode::mismatch, missing.error());
  if (!missing->empty()) return missing_symbols(*missing);
  return std::optional(std::move(binding));
}

/// Without --device, a GPU target is explained on simt, which has the same kernels and needs no GPU.
Outcome<lib::CompileOptions> compile_options(const lib::Context& context, const ExplainOptions& options) {
  const bool for_gpu = options.target.starts_with("sm_");
  lib::CompileOptions made;
  made.device = !options.device.empty() ? options.device : for_gpu ? "simt" : "host";
  made.target = options.target;
  made.config = options.config;
  auto checked = check_device(context, made.device);
  if (!checked && checked.error().code == ExitCode::usage) return std::unexpected(checked.error());
  if (!options.target.empty() && is_gpu(made.device))
    return fail(ExitCode::usage, fmt::format("--target: what is explained on {} is made for it", options.device));
  if (!checked) return std::unexpected(checked.error());
  return made;
}

Outcome<ExitCode> explain(const ExplainOptions& options) {
  PADLOCK_TRY(const auto chosen, context_options(options.cache));
  PADLOCK_TRY(const auto context, open_context(chosen));
  PADLOCK_TRY(const auto compile, compile_options(context, options));
  PADLOCK_TRY(const auto program, load_program(context, options.program));
  const auto binding = binding_of(context, program, options);
  if (!binding) return std::unexpected(binding.error());
  const auto json = program.explain(compile, *binding ? &**binding : nullptr);
  // A complete binding fails only if the sizes break a requirement.
  if (!json && json.error().status() == PADLOCK_FAILED_PRECONDITION)
    return fail(ExitCode::mismatch, json.error(), options.program);
  if (!json) return compile_failure(json.error(), options.program);
  PADLOCK_TRY(const auto explanation, JsonValue::parse(json->view()));
  return print(options.json, std::string(json->view()), explanation_text(explanation));
}

}  // namespace

void add_explain(Subcommand& app) {
  Subcommand command = app.subcommand("explain", "show sizes as expressions and, with --bind, as numbers");
  const auto options = std::make_shared<ExplainOptions>();  // shared: the callback outlives this function
  command.program(options->program);
  command.repeated("--bind", options->binds, "NAME=INTEGER,...: shows numbers too");
  command.option("--device", options->device, "DEVICE", "host, simt or cuda:N: whose config, and whose cache");
  command.option("--target", options->target, "TARGET", "host, host:NAME (an LLVM CPU) or sm_NN");
  command.option("--config", options->config, "CONFIG", "key=value,...: forces a config");
  add_cache_options(command, options->cache);
  command.json(options->json);
  command.examples("padlock explain examples/pad_relu.pad",
                   "padlock explain examples/pad_relu.pad --bind=B=4,S=10,lo=3");
  command.runs([options] { return explain(*options); });
}

}  // namespace padlock::tools
