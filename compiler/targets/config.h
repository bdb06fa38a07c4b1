#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "compiler/targets/gpu_config.h"
#include "compiler/targets/host_config.h"

namespace padlock::compiler {

/// One point of the search space of any target.
using Config = std::variant<HostConfig, GpuConfig>;

/// Prints all keys, in declaration order; TargetCompiler::parse_config reads them back.
[[nodiscard]] inline std::string to_string(const Config& config) {
  return std::visit([](const auto& own) { return own.to_string(); }, config);
}
/// Returns the output bytes of one task of the thread pool.
[[nodiscard]] inline std::int64_t task_bytes(const Config& config) {
  constexpr int kGpuTaskKib = 64;  // for a GPU's kernels that run on this machine's CPU
  const auto* const host = std::get_if<HostConfig>(&config);
  return std::int64_t{host != nullptr ? host->task_kib : kGpuTaskKib} << 10;
}

/// Returns whether the stores of a GPU's kernels leave its cache first.
[[nodiscard]] inline bool evicts_first(const Config& config) {
  const auto* const gpu = std::get_if<GpuConfig>(&config);
  return gpu != nullptr && gpu->cache == CacheHint::evict_first;
}

}  // namespace padlock::compiler
