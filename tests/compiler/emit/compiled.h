#pragma once

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/pipeline.h"
#include "compiler/targets/target_compiler.h"
#include "ir/program.h"
#include "tests/common/expect.h"

namespace padlock::compiler {

using testing::program_of;
using testing::value_of;

inline std::vector<Kernel> kernels_of(const ir::Program& program) { return value_of(lower(program)); }

inline std::string emitted(std::string_view text, Stage stage, std::string_view target = "host",
                           std::string_view config = "") {
  const ir::Program program = program_of(text);
  const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create(std::string(target)));
  const Config parsed = value_of(compiler->parse_config(config));
  return value_of(compiler->emit(program, stage, {.config = parsed}));
}

}  // namespace padlock::compiler
