#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tuner/cache/cache_key.h"
#include "tuner/cache/merge.h"
#include "tuner/cache/record.h"
#include "tuner/cache/record_text.h"
#include "tuner/cache/store_file.h"
#include "tuner/exchange/sync.h"

namespace padlock::session {

// Whole cache files, for tools. An *export* holds a cache's records as lines of text (tuner/cache/record_text.h).

/// The records of a cache file or of an export, whichever it is, with what is bad of it as problems. Errors: as
/// support/file.h for a file that cannot be read; else as tuner::StoreFile::open.
[[nodiscard]] Result<tuner::RecordSet> read_cache(const std::string& path);
/// The same, and every page of a cache file is looked at.
[[nodiscard]] Result<tuner::RecordSet> verify_cache(const std::string& path);

/// Puts the records into a cache file, which is made where there is none; of one place the later record stays. How many
/// were new or took the place of others. Errors: as tuner::StoreFile.
[[nodiscard]] Result<std::int64_t> merge_into_cache(const std::string& path, std::span<const tuner::Record> records);

/// Puts into a cache file, which is made where there is none, what others left at an exchange, and leaves there what it
/// has (tuner/exchange/sync.h). Errors: as tuner::CacheExchange::open and tuner::StoreFile.
[[nodiscard]] Result<tuner::Synced> sync_cache(const std::string& path, const std::string& url);

/// The records that serve nobody (tuner/cache/prune.h), of `records`: this build's are those to keep.
[[nodiscard]] std::vector<tuner::Record> stale_records(const std::vector<tuner::Record>& records,
                                                       std::string_view before);
/// Removes them from a cache file that is there. How many there were. Errors: as tuner::StoreFile.
[[nodiscard]] Result<std::int64_t> erase_from_cache(const std::string& path, std::span<const tuner::Record> records);

/// CacheEntry holds what a cache knows for one key.
struct CacheEntry {
  std::string program;
  std::string key;
  tuner::KeyFields fields;  ///< empty where the key's own record was lost
  std::vector<tuner::Choice> choices;
  std::vector<tuner::Measurement> measurements;
};
/// One a key, in the order of the records' places.
[[nodiscard]] std::vector<CacheEntry> entries_of(std::vector<tuner::Record> records);

}  // namespace padlock::session
