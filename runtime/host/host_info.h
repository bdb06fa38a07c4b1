#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace padlock::runtime {

/// HostInfo describes the CPU that this process runs on, as the system names it.
struct HostInfo {
  std::string cpu;                       ///< model name; "unknown CPU" where the system does not say
  int threads = 1;                       ///< CPUs that this process may run on
  std::optional<std::int64_t> l2_bytes;  ///< the L2 cache of one core
  std::optional<std::int64_t> l3_bytes;  ///< shared
};

[[nodiscard]] HostInfo host_info();

}  // namespace padlock::runtime
