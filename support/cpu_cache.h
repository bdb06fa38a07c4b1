#pragma once

#include <cstdint>
#include <optional>

namespace padlock {

/// Bytes of the data cache of this level (1 to 3) that the first CPU uses, be it shared or its own, as Linux says it in
/// /sys; nothing where it does not. `sysconf` would count the last caches of a whole AMD package as one.
[[nodiscard]] std::optional<std::int64_t> cache_bytes_of_level(int level);

/// Returns how many CPUs share that cache, 1 at least.
[[nodiscard]] int cpus_sharing_cache(int level);

/// Bytes of buffers that, used in turn, are out of a cache of so many when they are used again: twice as many.
[[nodiscard]] constexpr std::int64_t bytes_beyond_cache(std::int64_t cache_bytes) { return 2 * cache_bytes; }

/// Returns such bytes for this machine's last cache, 64 MiB at least.
[[nodiscard]] std::int64_t bytes_beyond_caches();

}  // namespace padlock
