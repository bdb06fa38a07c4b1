#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace padlock::runtime {

/// Returns the bytes that this process may still use: the least of the system's MemAvailable and the rests that the
/// control groups above the process leave. 2^62 if neither is known.
[[nodiscard]] std::int64_t available_memory();

// The steps as functions of texts, for tests.

/// MemAvailable of /proc/meminfo in bytes.
[[nodiscard]] std::optional<std::int64_t> parse_mem_available(std::string_view meminfo);
/// Computes what a control group leaves: limit - used + reclaimable (file cache, which is given up first). nullopt for
/// "max", for anything but a number, and for version 1's "no limit" (near 2^63).
[[nodiscard]] std::optional<std::int64_t> control_group_leaves(std::string_view limit, std::string_view used,
                                                               std::string_view stat);
/// Returns the path of the process in version 2's hierarchy (from "0::/path" in /proc/self/cgroup).
[[nodiscard]] std::optional<std::string> control_group_path(std::string_view proc_self_cgroup);

}  // namespace padlock::runtime
