#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "compiler/targets/gpu_config.h"
#include "compiler/targets/host_config.h"

namespace padlock::compiler {

/// One point of a target's search space, for those who take any target.
using Config = std::variant<HostConfig, GpuConfig>;

/// Prints all keys, in declaration order; TargetCompiler::parse_config reads them back.
[[nodiscard]] std::string to_string(const Config& config);
/// Returns the output bytes of one task of the thread pool.
[[nodiscard]] std::int64_t task_bytes(const Config& config);

}  // namespace padlock::compiler
