// Any bytes as an ONNX model: refused with a reason, or a program whose printed text parses again.
#include <functional>
#include <string_view>

#include "ir/program.h"
#include "onnx/import.h"
#include "onnx/limits.h"
#include "support/steps.h"
#include "tests/fuzz/fuzz_body.h"

namespace padlock::fuzz {

double seconds_allowed() { return 1; }

namespace {

/// Chooses an eighth of the models, by their bytes, so that one that is replayed is chosen again. The importer has
/// verified each program; to parse it once more takes as long as all else of a case.
bool is_read_again(std::string_view model) { return std::hash<std::string_view>()(model) % 8 == 0; }

}  // namespace
}  // namespace padlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock;
  const StepBudget steps(onnx::limits::kSteps);
  const std::string_view model(reinterpret_cast<const char*>(data), size);
  const auto made = onnx::import_model(model, {.folder = "/nonexistent"});
  // Its own arithmetic, and the verifier's.
  fuzz::require_steps(steps.taken(), 2 * onnx::limits::kSteps);
  if (!made) {
    fuzz::require(!made.error().message.empty(), "a refused model is so for a reason");
    fuzz::require(made.error().code != Code::internal, "no model is a fault of the importer");
    const auto part = onnx::import_model(model, {.folder = "/nonexistent", .outputs = {"v1"}});
    fuzz::require(part || part.error().code != Code::internal, "no part is a fault of the importer");
    return 0;
  }
  fuzz::require(!made->results.empty(), "a program has results");
  if (!fuzz::is_read_again(model)) return 0;
  const auto again = ir::parse_program(made->text);
  fuzz::require(again.has_value() && to_string(*again) == made->text, "a model's program is canonical text");
  return 0;
}
