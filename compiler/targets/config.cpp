#include "compiler/targets/config.h"

namespace padlock::compiler {

std::string to_string(const Config& config) {
  return std::visit([](const auto& one) { return one.to_string(); }, config);
}

std::int64_t task_bytes(const Config& config) {
  constexpr int kGpuTaskKib = 64;  // of a GPU's kernels that run on this machine's CPU
  const auto* const host = std::get_if<HostConfig>(&config);
  return std::int64_t{host != nullptr ? host->task_kib : kGpuTaskKib} << 10;
}

}  // namespace padlock::compiler
