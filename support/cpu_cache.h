#pragma once

#include <cstdint>
#include <optional>

namespace padlock {

/// Returns the bytes of the data cache of this level (1 to 3) that the first CPU uses, shared or its own, from Linux's
/// /sys; nullopt if /sys has none. `sysconf` would add up the last caches of an AMD package.
[[nodiscard]] std::optional<std::int64_t> cache_bytes_of_level(int level);

/// Returns how many CPUs share that cache; at least 1.
[[nodiscard]] int cpus_sharing_cache(int level);

/// Returns the bytes of buffers that, used in turn, are evicted from a cache before they are used again: twice its
/// size.
[[nodiscard]] constexpr std::int64_t bytes_beyond_cache(std::int64_t cache_bytes) { return 2 * cache_bytes; }

/// Returns that number for this machine's last cache; at least 64 MiB.
[[nodiscard]] std::int64_t bytes_beyond_caches();

}  // namespace padlock
