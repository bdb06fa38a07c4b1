#pragma once

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/host_compiler.h"
#include "compiler/pipeline.h"
#include "ir/program.h"

namespace padlock::compiler {

inline ir::Program program_of(std::string_view text) {
  Result<ir::Program> program = ir::parse_program(text);
  if (!program) FAIL(program.error().to_string());
  return *std::move(program);
}

inline std::vector<Kernel> kernels_of(const ir::Program& program) {
  Result<std::vector<Kernel>> kernels = lower(program);
  if (!kernels) FAIL(kernels.error().to_string());
  return *std::move(kernels);
}

inline std::string emitted(std::string_view text, Stage stage, std::string_view target = "host",
                           std::string_view config = "") {
  const ir::Program program = program_of(text);
  const Result<std::unique_ptr<HostCompiler>> compiler = HostCompiler::create(target);
  if (!compiler) FAIL(compiler.error().to_string());
  const Result<HostConfig> parsed = HostConfig::parse(config, (*compiler)->default_config());
  if (!parsed) FAIL(parsed.error().to_string());
  const Result<std::string> result = (*compiler)->emit(program, stage, {.config = *parsed});
  if (!result) FAIL(result.error().to_string());
  return *result;
}

}  // namespace padlock::compiler
