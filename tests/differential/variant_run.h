#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "abi/launch_plan.h"
#include "compiler/targets/target_compiler.h"
#include "tests/common/expect.h"
#include "tests/differential/host_check.h"

namespace padlock::differential {

/// A program for a GPU, and the sizes of one launch.
struct Case {
  std::string text;
  std::vector<std::vector<std::int64_t>> shapes;  ///< of all tensors
  std::map<std::string, std::int64_t> symbols = {{"l", 3}};
};

struct RunOptions {
  const char* config = "";  ///< of the target sm_90
  const compiler::PassEdits* edits = nullptr;
  std::uint64_t seed = 1;
  /// Runs of each kernel the variant of that name after the kernel's. Its guards must hold. Empty: any whose guards do.
  std::string_view only = {};
  bool bounds_check = false;
};

/// Runs a GPU's kernels thread by thread, as check_both_placements says.
inline std::string run(const Case& of, const RunOptions& options) {
  const ir::Program program = testing::program_of(of.text);
  const auto compiler = testing::value_of(compiler::TargetCompiler::create("sm_90"));
  const compiler::Config parsed = testing::value_of(compiler->parse_config(options.config));
  runtime::HostImage code = testing::value_of(load(compiler->compile(
      program, {.config = parsed, .bounds_check = options.bounds_check, .for_simt = true, .edits = options.edits})));
  ir::BindRequest request;
  for (const std::vector<std::int64_t>& shape : of.shapes) request.tensors.push_back(ir::ArgumentShape{shape, {}});
  request.symbols = of.symbols;
  const ir::Binding binding = testing::value_of(ir::Binding::bind(program, request));
  if (!options.only.empty())
    for (std::vector<runtime::HostVariant>& variants : code.kernels) {
      std::erase_if(variants,
                    [&](const runtime::HostVariant& variant) { return !variant.abi.name.ends_with(options.only); });
      REQUIRE(variants.size() == 1);
      REQUIRE(abi::guards_hold(variants.front().abi, binding));
      variants.front().abi.guards.clear();  // as the one variant it is taken for all sizes
    }
  testing::Rng rng(options.seed);
  const Problem problem = testing::value_of(random_problem(program, binding, rng));
  GuardedArena arena;
  return check_both_placements(code, problem, arena, rng);
}

}  // namespace padlock::differential
