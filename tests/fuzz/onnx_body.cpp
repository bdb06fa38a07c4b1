// Any bytes as an ONNX model: refused with a reason, or a program that is read again as it is printed.
#include <string_view>

#include "ir/program.h"
#include "onnx/import.h"
#include "onnx/limits.h"
#include "support/steps.h"
#include "tests/fuzz/fuzz_body.h"

namespace padlock::fuzz {

double seconds_allowed() { return 1; }

}  // namespace padlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock;
  const StepBudget steps(onnx::limits::kSteps);
  const auto made = onnx::import_model({reinterpret_cast<const char*>(data), size}, {.folder = "/nonexistent"});
  // Its own arithmetic, and the verifier's.
  fuzz::require_steps(steps.taken(), 2 * onnx::limits::kSteps);
  if (!made) {
    fuzz::require(!made.error().message.empty(), "a refused model is so for a reason");
    fuzz::require(made.error().code != Code::internal, "no model is a fault of the importer");
    return 0;
  }
  const auto again = ir::parse_program(made->text);
  fuzz::require(again.has_value() && to_string(*again) == made->text, "a model's program is canonical text");
  fuzz::require(!made->results.empty(), "a program has results");
  return 0;
}
