#include "runtime/host/host_info.h"

#include <fstream>

#include "runtime/host/thread_pool.h"
#include "support/cpu_cache.h"

namespace padlock::runtime {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  constexpr int kMaxLines = 64;  // those of the first processor
  std::string line;
  for (int i = 0; i < kMaxLines && std::getline(file, line); ++i) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown CPU";
}

}  // namespace

HostInfo host_info() {
  return {.cpu = cpu_name(),
          .threads = usable_cpus(),
          .l2_bytes = cache_bytes_of_level(2),
          .l3_bytes = cache_bytes_of_level(3)};
}

}  // namespace padlock::runtime
