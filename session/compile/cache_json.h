#pragma once

#include <string>
#include <vector>

#include "session/compile/tuning_cache.h"

namespace padlock::session {

/// Writes one object ("schema": 1) with a newline at its end: the contents and the problems of the cache in file
/// `cache`.
[[nodiscard]] std::string to_json(const std::string& cache, const std::vector<CacheEntry>& entries,
                                  const std::vector<std::string>& problems);

}  // namespace padlock::session
