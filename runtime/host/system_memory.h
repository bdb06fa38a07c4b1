#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace padlock::runtime {

/// Bytes that this process may still use: the least of the system's MemAvailable and what each control group above
/// the process leaves. 2^62 where nothing says.
[[nodiscard]] std::int64_t available_memory();

// The parts, on texts, for tests.

/// MemAvailable of /proc/meminfo in bytes.
[[nodiscard]] std::optional<std::int64_t> parse_mem_available(std::string_view meminfo);
/// Computes what a control group leaves: limit - used + reclaimable (file cache that is given up first). nullopt for
/// "max", for anything that is no number, and for version 1's "no limit" (near 2^63).
[[nodiscard]] std::optional<std::int64_t> control_group_leaves(std::string_view limit, std::string_view used,
                                                               std::string_view stat);
/// The path of the process in version 2's hierarchy (of "0::/path" in /proc/self/cgroup).
[[nodiscard]] std::optional<std::string> control_group_path(std::string_view proc_self_cgroup);

}  // namespace padlock::runtime
