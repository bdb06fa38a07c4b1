#include <memory>

#include <fmt/format.h>

#include "api/context.h"
#include "support/json_writer.h"
#include "tools/command.h"
#include "tools/emit_program.h"

namespace padlock::tools {
namespace {

using compiler::kVerdicts;
using compiler::Obligation;
using compiler::Proof;
using compiler::Verdict;

struct ProveOptions {
  std::string program;
  std::string target = "host";
  std::string config;
  std::string json;
  bool all_configs = false;
};

std::int64_t count(const std::vector<Proof>& proofs, Verdict verdict) {
  std::int64_t sum = 0;
  for (const Proof& proof : proofs) sum += proof.count(verdict);
  return sum;
}

double milliseconds(const std::vector<Proof>& proofs) {
  double sum = 0;
  for (const Proof& proof : proofs) sum += proof.milliseconds;
  return sum;
}

std::string text_of(const std::vector<Proof>& proofs) {
  std::string text;
  for (const Proof& proof : proofs) {
    text += fmt::format("kernel {}, config {}\n", proof.kernel, proof.config);
    for (const Obligation& obligation : proof.obligations) text += fmt::format("  {}\n", to_string(obligation));
  }
  std::string totals;
  for (const Verdict verdict : kVerdicts)
    totals += fmt::format("{}{} {}", totals.empty() ? "" : ", ", count(proofs, verdict), name_of(verdict));
  return text + fmt::format("{} in {:.2f} ms\n", totals, milliseconds(proofs));
}

void write_optional(JsonWriter& writer, const char* key, const std::string& text) {
  writer.key(key);
  if (text.empty())
    writer.null();
  else
    writer.value(text);
}

void write_obligation(JsonWriter& writer, const Proof& proof, const Obligation& obligation) {
  writer.begin_object().member("kernel", proof.kernel).member("config", proof.config);
  writer.member("kind", name_of(obligation.kind)).member("access", obligation.access);
  writer.member("verdict", name_of(obligation.verdict));
  write_optional(writer, "guard", obligation.guard);
  const bool refuted = obligation.verdict == Verdict::refuted;
  write_optional(writer, "counterexample", refuted ? obligation.found.to_string() : "");
  if (obligation.verdict == Verdict::checked) writer.member("reason", obligation.reason);
  if (obligation.verdict == Verdict::dead) writer.member("contradiction", obligation.contradiction);
  writer.end_object();
}

std::string json_of(const std::vector<Proof>& proofs) {
  JsonWriter writer;
  writer.begin_object().member("schema", 1).member("command", "prove").key("obligations").begin_array();
  for (const Proof& proof : proofs)
    for (const Obligation& obligation : proof.obligations) write_obligation(writer, proof, obligation);
  writer.end_array();
  for (const Verdict verdict : kVerdicts) writer.member(name_of(verdict), count(proofs, verdict));
  writer.member("ms", milliseconds(proofs)).end_object();
  return std::move(writer).take();
}

Outcome<ExitCode> prove(const ProveOptions& options) {
  const auto program = load_inside_program(options.program);
  if (!program) return std::unexpected(program.error());
  if (options.all_configs && !options.config.empty())
    return fail(ExitCode::usage, "expected --config or --all-configs, found both");
  api::Context context;
  const auto proofs =
      context.prove(*program, {.target = options.target, .config = options.config}, options.all_configs);
  if (!proofs) return compile_failure(proofs.error(), options.program);
  if (!options.json.empty())
    if (auto written = write_text(options.json, json_of(*proofs)); !written) return std::unexpected(written.error());
  if (options.json != kStandardOutput)
    if (auto written = write_text(kStandardOutput, text_of(*proofs)); !written) return std::unexpected(written.error());
  return count(*proofs, Verdict::refuted) > 0 ? ExitCode::mismatch : ExitCode::ok;
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
