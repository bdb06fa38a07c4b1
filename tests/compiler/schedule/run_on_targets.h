#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/compiler/emit/compiled.h"
#include "tests/differential/host_check.h"

// Runs programs on every level that this machine supports, between guard pages and in several tasks, and compares them
// with the interpreter.
namespace padlock::compiler {

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// Returns the levels, and CPUs with more features, that this machine supports.
inline std::vector<std::string> runnable_targets() {
  std::vector<std::string> names;
  for (const char* const name : {"host:x86-64-v2", "host:x86-64-v3", "host:x86-64-v4", "host:icelake-server",
                                 "host:armv8-a", "host:neoverse-n1", "host:neoverse-v1", "host:neoverse-v2", "host"}) {
    const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create(name));
    if (compiler->check_runs_here()) names.emplace_back(name);
  }
  return names;
}

/// Runs a compiled program at each of these sizes. Returns the first that differs from the interpreter's results.
inline std::string differences(std::string_view text, const std::string& target, const std::vector<Sizes>& sizes,
                               const PassEdits* edits, std::uint64_t seed, std::string_view config = "") {
  const ir::Program program = program_of(text);
  const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create(std::string(target)));
  const Config chosen = value_of(compiler->parse_config(config));
  const auto image = value_of(
      differential::load(compiler->compile(program, {.config = chosen, .bounds_check = false, .edits = edits})));
  differential::GuardedArena arena;
  testing::Rng rng(seed);
  for (const Sizes& one : sizes) {
    ir::BindRequest request;
    request.tensors.resize(program.tensor_parameters().size());
    for (const auto& [name, value] : one)
      if (program.exprs().find_symbol(name)) request.symbols.emplace(name, value);
    const auto binding = ir::Binding::bind(program, request);
    if (!binding) continue;
    const auto problem = value_of(differential::random_problem(program, *binding, rng));
    for (int i = 0; i < 2; ++i)
      if (std::string found = differential::check_both_placements(image, problem, arena, rng); !found.empty()) {
        for (const auto& [name, value] : one) found += fmt::format(" {}={}", name, value);
        return found;
      }
  }
  return {};
}

}  // namespace padlock::compiler
