#pragma once

#include "support/error.h"
#include "support/paired_benchmark.h"

namespace padlock::bench {

/// Look-ups that hit, in a cache of 2000 keys with five records each: in memory (the baseline), from the file by a
/// store that is open, and from the file with the opening. Errors: as the store's, and unavailable where no file can be
/// made.
[[nodiscard]] Result<Comparison> cache_look_ups(const TimingOptions& options);

}  // namespace padlock::bench
