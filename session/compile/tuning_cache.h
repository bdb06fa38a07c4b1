#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"
#include "tuner/cache/cache_key.h"
#include "tuner/cache/merge.h"
#include "tuner/cache/prune.h"
#include "tuner/cache/record.h"
#include "tuner/cache/record_text.h"
#include "tuner/cache/row_set.h"
#include "tuner/cache/store_file.h"
#include "tuner/exchange/sync.h"

namespace padlock::session {

// Whole cache files, for tools. An *export* holds a cache's records as lines of text (tuner/cache/record_text.h).

/// The records of a cache file or of an export, whichever it is, with what is bad of it as problems. Errors: as
/// support/file.h for a file that cannot be read; else as tuner::StoreFile::open.
[[nodiscard]] Result<tuner::RecordSet> read_cache(const std::string& path);
/// The same as rows, in the order of their places.
[[nodiscard]] Result<tuner::RowSet> read_rows(const std::string& path);
/// The records, and every page of a cache file is looked at.
[[nodiscard]] Result<tuner::RecordSet> verify_cache(const std::string& path);

/// Puts rows that were looked at into a cache file, which is made where there is none; of one place the later record
/// stays. How many were new or took the place of others. Errors: as tuner::StoreFile.
[[nodiscard]] Result<std::int64_t> merge_into_cache(const std::string& path, std::span<const tuner::Row> rows);

/// Puts into a cache file, which is made where there is none, what others left at an exchange, and leaves there what it
/// has (tuner/exchange/sync.h). Errors: as tuner::CacheExchange::open and tuner::StoreFile.
[[nodiscard]] Result<tuner::Synced> sync_cache(const std::string& path, const std::string& url);

/// Finds the records of a cache file or of an export that serve nobody (tuner/cache/prune.h): this build's are those to
/// keep. Errors: as read_rows.
[[nodiscard]] Result<tuner::Pruned> find_stale(const std::string& path, std::string_view before);
/// Removes such records from a cache file that is there. Errors: as tuner::StoreFile.
[[nodiscard]] Result<tuner::Pruned> prune_cache(const std::string& path, std::string_view before);

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
