#include <algorithm>
#include <string>

#include <doctest/doctest.h>

#include "compiler/targets/target_compiler.h"
#include "ir/program.h"
#include "support/limits.h"
#include "tests/common/rng.h"
#include "tests/differential/host_check.h"
#include "tests/limits/hostile_texts.h"

namespace padlock::differential {
namespace {

std::size_t lines_of(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

/// Compiles a family's text and compares its results with the interpreter's. Returns the number of lines of its LLVM
/// IR.
std::size_t check_results(const testing::HostileFamily& family, std::size_t bytes) {
  CAPTURE(family.name);
  const auto compiler = compiler::TargetCompiler::create("host");
  REQUIRE(compiler.has_value());
  const Result<ir::Program> program = ir::parse_program(family.text(bytes));
  REQUIRE(program.has_value());
  ir::BindRequest request{.tensors = {}, .symbols = {{"B", 2}, {"S", 37}, {"k", 1}, {"l", 2}}};
  request.tensors.resize(program->tensor_parameters().size());
  const Result<ir::Binding> binding = ir::Binding::bind(*program, request);
  REQUIRE_MESSAGE(binding.has_value(), (binding ? std::string() : binding.error().to_string()));
  testing::Rng rng(1);
  const Result<Problem> problem = random_problem(*program, *binding, rng);
  REQUIRE(problem.has_value());
  const Result<runtime::HostImage> code = load((*compiler)->compile(*program, {}));
  REQUIRE_MESSAGE(code.has_value(), (code ? std::string() : code.error().to_string()));
  GuardedArena arena;
  CHECK(check_both_placements(*code, *problem, arena, rng) == "");
  return lines_of(*(*compiler)->emit(*program, compiler::Stage::llvm, {}));
}

TEST_CASE("a kernel that is too long to be optimised computes the same") {
  std::size_t longest = 0;
  for (const testing::HostileFamily& family : testing::hostile_families())
    for (const std::string_view name : {"casts", "clamps", "maxima", "roots", "selections", "relus", "stencil"})
      if (family.name == name) longest = std::max(longest, check_results(family, name == "stencil" ? 9000 : 50'000));
  CHECK(longest > 2 * limits::kOptimizedInstructions);
}

}  // namespace
}  // namespace padlock::differential
