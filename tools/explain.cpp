#include "api/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "api/arguments.h"
#include "api/explain_json.h"
#include "tools/arguments.h"
#include "tools/cache_choice.h"
#include "tools/command.h"
#include "tools/load_program.h"

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

/// "S + 3", or under a binding "S + 3 = 13".
std::string text_of(const api::Quantity& quantity) {
  const std::string number = quantity.value ? std::to_string(*quantity.value) : "";
  return number.empty() || number == quantity.expression ? quantity.expression
                                                         : fmt::format("{} = {}", quantity.expression, number);
}

std::string list_of(const std::vector<api::Quantity>& list) {
  std::string text;
  for (const api::Quantity& quantity : list) text += (text.empty() ? "" : ", ") + text_of(quantity);
  return "[" + text + "]";
}

std::string tensor_lines(const std::vector<api::TensorExplanation>& tensors) {
  std::string text;
  for (const api::TensorExplanation& tensor : tensors)
    text += fmt::format("  {}: {}{}\n    strides {}\n    storage {} bytes\n", tensor.name, ir::name_of(tensor.dtype),
                        list_of(tensor.extents), list_of(tensor.strides), text_of(tensor.storage_bytes));
  return text;
}

std::string variant_lines(const api::VariantExplanation& variant) {
  const char* selected = !variant.selected ? "" : *variant.selected ? ", selected" : ", not selected";
  std::string text = fmt::format("    variant {}{}, if\n", variant.name, selected);
  for (const api::GuardExplanation& guard : variant.guards) {
    const char* verdict = !guard.holds ? "" : *guard.holds ? ": holds" : ": does not hold";
    text += fmt::format("      {}{}\n", guard.constraint, verdict);
  }
  return text;
}

/// One screen: bounds are left out, which the program states itself or the language does, and a long list is cut.
std::string requirement_lines(const std::vector<api::RequirementExplanation>& requirements) {
  constexpr int kShown = 12;
  std::string text = "checked when sizes are bound, besides each symbol's bounds\n";
  int count = 0;
  for (const api::RequirementExplanation& requirement : requirements)
    if (!requirement.is_bound && count++ < kShown)
      text += fmt::format("  {}  ({})\n", requirement.constraint, requirement.what);
  if (count == 0) text += "  nothing: the rest is proved\n";
  if (count > kShown) text += fmt::format("  and {} more (--json has all)\n", count - kShown);
  return text;
}

std::string explanation_text(const api::Explanation& e) {
  std::string text =
      fmt::format("program {}\ninputs\n{}results\n{}", e.program, tensor_lines(e.inputs), tensor_lines(e.results));
  text += "kernels\n";
  for (const api::KernelExplanation& kernel : e.kernels) {
    text += fmt::format("  {}: computes {} as rows {} x columns {}\n", kernel.name, fmt::join(kernel.results, ", "),
                        text_of(kernel.rows), text_of(kernel.columns));
    for (const api::VariantExplanation& variant : kernel.variants) text += variant_lines(variant);
  }
  text += requirement_lines(e.requirements);
  return text + fmt::format("target\n  {}\nconfig\n  {}\n  {}\n", target_summary(e.target), e.config, e.reason);
}

Outcome<std::optional<ir::BindRequest>> bind_request(const ir::Program& program, const ExplainOptions& options) {
  if (options.binds.empty()) return std::optional<ir::BindRequest>();
  const auto symbols = parse_bind(options.binds);
  if (!symbols) return std::unexpected(symbols.error());
  if (auto checked = check_symbols(program, *symbols); !checked) return std::unexpected(checked.error());
  const std::vector<std::optional<api::TensorSource>> no_arrays(program.tensor_parameters().size());
  auto request = api::request_for(program, no_arrays, *symbols);
  if (!request) return fail(ExitCode::mismatch, request.error());
  if (!request->missing.empty()) return missing_symbols(request->missing);
  return std::optional(std::move(request->request));
}

/// Code for a GPU is explained on simt, which has the same kernels and needs no GPU, unless one is named.
Outcome<api::CompileOptions> compile_options(const ExplainOptions& options) {
  const bool for_gpu = options.target.starts_with("sm_");
  const auto device = api::Device::parse(!options.device.empty() ? options.device : for_gpu ? "simt" : "host");
  if (!device) return fail(ExitCode::usage, device.error());
  if (!options.target.empty() && device->kind == api::DeviceKind::cuda)
    return fail(ExitCode::usage, fmt::format("--target: what is explained on {} is made for it", options.device));
  if (const Status status = api::availability(*device); !status) return fail(ExitCode::unavailable, status.error());
  api::CompileOptions made{.device = *device, .config = options.config};
  if (!options.target.empty()) made.target = options.target;
  return made;
}

Outcome<ExitCode> explain(const ExplainOptions& options) {
  const auto compile = compile_options(options);
  if (!compile) return std::unexpected(compile.error());
  const auto program = load_program(options.program);
  if (!program) return std::unexpected(program.error());
  const auto request = bind_request(program->ir(), options);
  if (!request) return std::unexpected(request.error());
  api::Context context;
  if (auto used = use_cache(context, options.cache); !used) return std::unexpected(used.error());
  const auto explanation = api::explain(context, *program, *compile, *request);
  if (!explanation) {
    // A request that is whole can only fail for what it asks.
    const bool unfit = explanation.error().code == Code::failed_precondition;
    return unfit ? fail(ExitCode::mismatch, explanation.error(), options.program)
                 : compile_failure(explanation.error(), options.program);
  }
  if (!options.json.empty())
    if (auto written = write_text(options.json, api::to_json(*explanation)); !written)
      return std::unexpected(written.error());
  if (options.json != kStandardOutput)
    if (auto written = write_text(kStandardOutput, explanation_text(*explanation)); !written)
      return std::unexpected(written.error());
  return ExitCode::ok;
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
