#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/targets/target_compiler.h"
#include "ir/program.h"
#include "support/limits.h"
#include "tests/limits/hostile_texts.h"

// LLVM takes longer for a GPU's instructions than for a host's, and a GPU's kernels have more variants. So the sum over
// all variants has a limit of its own.
namespace padlock::compiler {
namespace {

/// Compiles a family's text for a GPU and returns the error, or nothing.
std::string refusal_of(std::string_view name, std::size_t bytes) {
  static const auto kGpu = TargetCompiler::create("sm_90");
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

/// Kernels that transpose, and also have code for narrow outputs and by element if there is room for it.
std::string transposes(int kernels) {
  std::string inputs, body, results;
  for (int i = 0; i < kernels; ++i) {
    inputs += fmt::format("x{0}: f32[A{0}, B{0}, C{0}], ", i);
    body += fmt::format(
        "  t{0} = transpose(x{0}, perm = [0, 2, 1])\n"
        "  y{0} = pad(t{0}, low = [0, l, 1], high = [0, 1, l], mode = reflect)\n",
        i);
    results += fmt::format("{}y{}", i > 0 ? ", " : "", i);
  }
  return fmt::format("program p({}l: dim)\n{{\n{}  return {}\n}}", inputs, body, results);
}

TEST_CASE("code for some sizes alone is left out of a program that would be too long with it") {
  const auto gpu = TargetCompiler::create("sm_90");
  for (const bool for_simt : {false, true})
    for (const auto& [kernels, has_others] : {std::pair(2, true), {9, false}}) {
      CAPTURE(for_simt);
      CAPTURE(kernels);
      const Result<ir::Program> program = ir::parse_program(transposes(kernels));
      REQUIRE(program.has_value());
      const Result<abi::CompiledCode> code = (*gpu)->compile(*program, {.for_simt = for_simt});
      REQUIRE(code.has_value());
      REQUIRE(std::ssize(code->kernels) == kernels);
      for (const auto& variants : code->kernels)
        for (const std::string_view other : {"_narrow_output", "_by_element"})
          CHECK(std::ranges::count_if(variants, [&](const auto& variant) {
                  return variant.abi.name.ends_with(other);
                }) == (has_others ? 1 : 0));
    }
}

// A random program: six axes that are reflected, and a function of each element.
constexpr std::string_view kReflected = R"(
program p(d2: dim, p0: i8[d2, N1, N0] strides [N1, 1, d2 * N1], c1: i8, p6: bf16[N3, 3], d4: dim,
          p9: bf16[8, 1, 1, 3, N5, d4], d6: dim, d7: dim, d8: dim, d9: dim, d10: dim, d11: dim,
          p12: f16[1] strides [1], d12: dim)
where d9 >= -d12
{
  v2 = clamp(p0, lo = c1, hi = -7)
  v3 = eq(v2, 127)
  v4 = sign(p0)
  v5 = abs(v4)
  v7 = floor(p6)
  v8 = rsqrt(v7)
  v10 = exp(p9)
  v11 = pad(v10, low = [d6 ceildiv 6, -2 * N0 + 23, 1, d6 - 86, d9 ceildiv 7, d11],
            high = [-d7, min(7, max(d7 - 4, d8)), max(max(d8, d6 - 87), -(N1 - 4)), (N5 + 5) mod 11, d10, 0],
            mode = reflect)
  v13 = tanh(p12)
  v14 = ceil(v13)
  return v3, v5, v8, v11, v14
})";

TEST_CASE("what is compiled for a GPU is compiled for simt, too, whose code is longer since it tests every access") {
  const Result<ir::Program> program = ir::parse_program(kReflected);
  REQUIRE(program.has_value());
  for (const bool for_simt : {false, true}) {
    CAPTURE(for_simt);
    const auto gpu = TargetCompiler::create("sm_90");
    const Result<abi::CompiledCode> code = (*gpu)->compile(*program, {.for_simt = for_simt});
    CHECK((code ? "" : code.error().message) == "");
  }
}

}  // namespace
}  // namespace padlock::compiler
