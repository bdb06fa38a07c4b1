#include "runtime/host/host_info.h"

#include <fstream>
#include <string_view>

#include "runtime/host/thread_pool.h"
#include "support/cpu_cache.h"

namespace padlock::runtime {
namespace {

/// Returns the value of the first line that begins with `key`; empty if there is none.
std::string line_of_cpu(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  constexpr int kMaxLines = 64;  // those of the first processor
  std::string line;
  for (int i = 0; i < kMaxLines && std::getline(file, line); ++i) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string cpu_name() {
  std::string name = line_of_cpu("model name");
#if defined(__aarch64__)
  // The system knows numbers alone: "implementer 0x41, part 0xd40".
  if (const std::string part = line_of_cpu("CPU part"); name.empty() && !part.empty())
    name = "implementer " + line_of_cpu("CPU implementer") + ", part " + part;
#endif
  return name.empty() ? "unknown CPU" : name;
}

}  // namespace

HostInfo host_info() {
  return {.cpu = cpu_name(),
          .threads = usable_cpus(),
          .l2_bytes = cache_bytes_of_level(2),
          .l3_bytes = cache_bytes_of_level(3)};
}

}  // namespace padlock::runtime
