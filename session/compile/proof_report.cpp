#include "session/compile/proof_report.h"

#include <fmt/format.h>

#include "support/json_writer.h"

namespace padlock::session {
namespace {

using compiler::kVerdicts;
using compiler::Obligation;
using compiler::Proof;
using compiler::Verdict;

double milliseconds(std::span<const Proof> proofs) {
  double sum = 0;
  for (const Proof& proof : proofs) sum += proof.milliseconds;
  return sum;
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

}  // namespace

std::int64_t count(std::span<const Proof> proofs, Verdict verdict) {
  std::int64_t sum = 0;
  for (const Proof& proof : proofs) sum += proof.count(verdict);
  return sum;
}

std::string to_text(std::span<const Proof> proofs) {
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

std::string to_json(std::span<const Proof> proofs) {
  JsonWriter writer;
  writer.begin_object().member("schema", 1).member("command", "prove").key("obligations").begin_array();
  for (const Proof& proof : proofs)
    for (const Obligation& obligation : proof.obligations) write_obligation(writer, proof, obligation);
  writer.end_array();
  for (const Verdict verdict : kVerdicts) writer.member(name_of(verdict), count(proofs, verdict));
  writer.member("ms", milliseconds(proofs)).end_object();
  return std::move(writer).take();
}

}  // namespace padlock::session
