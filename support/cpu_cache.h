#pragma once

#include <cstdint>
#include <optional>

namespace padlock {

/// Bytes of the data cache of this level (1 to 3) that the first CPU uses, be it shared or its own, as Linux says it in
/// /sys; nothing where it does not. `sysconf` would count the last caches of a whole AMD package as one.
[[nodiscard]] std::optional<std::int64_t> cache_bytes_of_level(int level);

/// More bytes than the caches hold: twice the last one, 64 MiB at least. Buffers that are used in turn and have as many
/// together are out of the caches when they are used again.
[[nodiscard]] std::int64_t bytes_beyond_caches();

}  // namespace padlock
