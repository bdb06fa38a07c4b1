// Any bytes as records of a tuning cache: refused with a reason, or read exactly as the line says. A region of sizes is
// parsed against a program and decided for a binding. The hash of a line is corrected first, since otherwise it would
// hide all other faults.
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "ir/binding/binding.h"
#include "support/hash.h"
#include "tests/fuzz/fuzz_body.h"
#include "tuner/cache/choice.h"
#include "tuner/cache/record_text.h"

namespace padlock::fuzz {
namespace {

using tuner::Choice;
using tuner::Record;

/// Reads the good records of an export.
void read_export(std::string_view text) {
  for (const Record& record : tuner::parse_lines(text).records)
    require(tuner::parse_line(to_line(record)) == record, "a record that was read is read again");
}

void choose(const Choice& choice) {
  static const auto kProgram = ir::parse_program(
      "program p(x: f32[B, S], lo: dim) where B >= 1 { y = pad(x, low = [0, lo], high = [0, 8]) return y }");
  static const auto kBinding =
      ir::Binding::bind(*kProgram, {.tensors = {std::nullopt}, .symbols = {{"B", 2}, {"S", 1000}, {"lo", -3}}});
  require(kBinding.has_value(), "the sizes are the program's");
  const auto choices = tuner::ProgramChoices::create(*kProgram, {choice}, "default");
  if (!choices) return require(!choices.error().message.empty(), "a refused region says why");
  const tuner::Chosen chosen = choices->choose(*kBinding);
  require(chosen.config == choice.config || chosen.config == "default", "one of the configs is chosen");
  const auto served =
      tuner::ProgramChoices::of_served(*kProgram, tuner::serving(*kProgram, {choice}, 16'384), "default");
  require(served.has_value(), "what a choice serves is no other program's");
}

/// A line behind its hash, which stands first.
void read_sealed(std::string_view rest) {
  const std::string line = fmt::format("{{\"check\":\"{}\",{}", hash64(fmt::format("{{{}", rest)), rest);
  const auto record = tuner::parse_line(line);
  if (!record) return require(!record.error().message.empty(), "a refused line says why");
  require(to_line(*record) == line, "a record is exactly its line");
  if (const auto* choice = std::get_if<Choice>(&record->content)) choose(*choice);
}

}  // namespace

double seconds_allowed() { return 1; }

}  // namespace padlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  padlock::fuzz::read_export(text);
  padlock::fuzz::read_sealed(text);
  padlock::fuzz::choose({.region = std::string(text), .config = "c", .provenance = {}});
  return 0;
}
