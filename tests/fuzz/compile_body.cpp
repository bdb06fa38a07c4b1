// Any bytes as a program for the host: refused with a statement named, or code.
#include <string_view>

#include "compiler/target/host_compiler.h"
#include "ir/program.h"
#include "support/limits.h"
#include "support/steps.h"
#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/processor_time.h"

// A program that is accepted may nest a hundred deep and keep LLVM busy; a refusal takes at most a second.
double padlock::fuzz::seconds_allowed() { return 20; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock;
  static const auto kCompiler = compiler::HostCompiler::create();
  fuzz::require(kCompiler.has_value(), "the host has a compiler");
  const Result<ir::Program> program = ir::parse_program({reinterpret_cast<const char*>(data), size});
  if (!program) return 0;
  compiler::HostOptions options;
  options.bounds_check = size % 4 == 0;
  const double start = fuzz::processor_seconds();
  const std::int64_t before = steps_taken();
  const auto kernels = (*kCompiler)->compile(*program, options);
  fuzz::require_steps(steps_taken() - before, limits::kGatherSteps + limits::kMergeSteps + limits::kProofSteps);
  if (!kernels) {
    fuzz::require(kernels.error().code == Code::resource_exhausted, "only limits refuse a verified program");
    fuzz::require(!kernels.error().message.empty(), "a refusal says why");
    fuzz::require(fuzz::processor_seconds() - start <= fuzz::kSlowdown, "a refusal takes at most a second");
  }
  return 0;
}
