#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/target/gpu_compiler.h"
#include "ir/program.h"
#include "support/limits.h"
#include "tests/limits/hostile_texts.h"

// LLVM takes longer for a GPU's instructions than for a host's, and a GPU's kernels have more variants: what they come
// to together has a limit of its own.
namespace padlock::compiler {
namespace {

/// Compiles a family's text for a GPU and returns the error, or nothing.
std::string refusal_of(std::string_view name, std::size_t bytes) {
  static const auto kGpu = GpuCompiler::create("sm_90");
  const auto families = testing::hostile_families();
  const auto family = std::ranges::find(families, name, &testing::HostileFamily::name);
  REQUIRE(family != families.end());
  const Result<ir::Program> program = ir::parse_program(family->text(bytes));
  REQUIRE(program.has_value());
  const Result<abi::CompiledCode> code = (*kGpu)->compile(*program, {});
  if (code) return {};
  CHECK(code.error().code == Code::resource_exhausted);
  return code.error().message;
}

TEST_CASE("a program that is too long for a GPU in all variants of its kernels is refused") {
  const std::string limit = fmt::format("expected a program of at most {} instructions", limits::kGpuInstructions);
  for (const std::string_view name : {"casts", "maxima"}) {
    CAPTURE(name);
    CHECK(refusal_of(name, 65'536).starts_with(limit));
    CHECK(refusal_of(name, 2000) == "");
  }
}

}  // namespace
}  // namespace padlock::compiler
