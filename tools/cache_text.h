#pragma once

#include <string>
#include <vector>

#include "api/tuning_cache.h"

namespace padlock::tools {

/// One line a key: what it is of, and how much is known.
[[nodiscard]] std::string list_text(const std::vector<api::CacheEntry>& entries);
[[nodiscard]] std::string list_json(const std::string& cache, const std::vector<api::CacheEntry>& entries);

/// Every field, choice and measurement; those that failed come last, with their verdicts.
[[nodiscard]] std::string show_text(const std::vector<api::CacheEntry>& entries);
[[nodiscard]] std::string show_json(const std::string& cache, const std::vector<api::CacheEntry>& entries);

/// "choice of S >= 8 of key 3ac588be9841": what a record is about.
[[nodiscard]] std::string record_title(const api::Record& record);

}  // namespace padlock::tools
