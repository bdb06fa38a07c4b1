// Any bytes as a program for the host: refused with a statement named, refused by a limit, without admissible sizes, or
// compiled.
#include <cstdio>
#include <string_view>

#include "compiler/targets/target_compiler.h"
#include "ir/program.h"
#include "solver/binding_search.h"
#include "support/limits.h"
#include "support/steps.h"
#include "tests/fuzz/fuzz_body.h"
#include "tests/fuzz/processor_time.h"

// A program that is accepted may nest a hundred deep and keep LLVM busy; a refusal takes at most a second.
double padlock::fuzz::seconds_allowed() { return 20; }

namespace {

/// Returns whether the search for sizes finds any that the program admits.
bool admits_sizes(const padlock::ir::Program& program) {
  auto search = padlock::solver::BindingSearch::create(program, {});
  padlock::fuzz::require(search.has_value(), "sizes can be searched without limits");
  return search->nearest({}, 8, 1).has_value() || search->nearest({}, 64, 2).has_value();
}

/// Checks the refusal of a verified program: by a limit, or because it admits no sizes; the message says which.
void check_refusal(const padlock::ir::Program& program, const padlock::Error& error) {
  using namespace padlock;
  const bool is_limit = error.code == Code::resource_exhausted && !error.message.empty();
  const bool is_empty = error.code == Code::failed_precondition && error.message.contains("admits no sizes: ");
  if (!is_limit && !is_empty) std::fprintf(stderr, "%s\n", error.to_string().c_str());
  fuzz::require(is_limit || is_empty, "only a limit, or the lack of sizes, refuses a verified program");
  if (is_empty) fuzz::require(!admits_sizes(program), "a program that is said to admit no sizes admits none");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock;
  static const auto kCompiler = compiler::TargetCompiler::create("host");
  fuzz::require(kCompiler.has_value(), "the host has a compiler");
  const Result<ir::Program> program = ir::parse_program({reinterpret_cast<const char*>(data), size});
  if (!program) return 0;
  compiler::TargetCompiler::Options options;
  options.bounds_check = size % 4 == 0;
  const double start = fuzz::processor_seconds();
  const std::int64_t before = steps_taken();
  const auto kernels = (*kCompiler)->compile(*program, options);
  fuzz::require_steps(steps_taken() - before, limits::kGatherSteps + limits::kMergeSteps + limits::kProofSteps);
  if (!kernels) {
    fuzz::require(fuzz::processor_seconds() - start <= fuzz::kSlowdown, "a refusal takes at most a second");
    check_refusal(*program, kernels.error());
  }
  return 0;
}
