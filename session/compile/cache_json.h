#pragma once

#include <string>
#include <vector>

#include "session/compile/tuning_cache.h"

namespace padlock::session {

/// One object ("schema": 1) with a newline at its end: what the cache in file `cache` knows, and what is bad of it.
[[nodiscard]] std::string to_json(const std::string& cache, const std::vector<CacheEntry>& entries,
                                  const std::vector<std::string>& problems);

}  // namespace padlock::session
