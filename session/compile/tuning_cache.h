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

/// Reads the records of a cache file or an export, and reports damage as problems. Errors: as support/file.h for an
/// unreadable file; else as tuner::StoreFile::open.
[[nodiscard]] Result<tuner::RecordSet> read_cache(const std::string& path);
/// The same as rows, in the order of their places.
[[nodiscard]] Result<tuner::RowSet> read_rows(const std::string& path);
/// Reads the records, and checks every page of a cache file.
[[nodiscard]] Result<tuner::RecordSet> verify_cache(const std::string& path);

/// Puts checked rows into a cache file, which is created if missing; the later record of a place stays. Returns how
/// many were new or replaced others. Errors: as tuner::StoreFile.
[[nodiscard]] Result<std::int64_t> merge_into_cache(const std::string& path, std::span<const tuner::Row> rows);

/// Exchanges records with others: takes theirs from an exchange into a cache file, created if missing, and leaves its
/// own there (tuner/exchange/sync.h). Errors: as tuner::CacheExchange::open and tuner::StoreFile.
[[nodiscard]] Result<tuner::Synced> sync_cache(const std::string& path, const std::string& url);

/// Finds the useless records of a cache file or an export (tuner/cache/prune.h); records of this build are kept.
/// Errors: as read_rows.
[[nodiscard]] Result<tuner::Pruned> find_stale(const std::string& path, std::string_view before);
/// Removes such records from an existing cache file. Errors: as tuner::StoreFile.
[[nodiscard]] Result<tuner::Pruned> prune_cache(const std::string& path, std::string_view before);

/// CacheEntry holds a cache's records for one key.
struct CacheEntry {
  std::string program;
  std::string key;
  tuner::KeyFields fields;  ///< empty if the key's own record was lost
  std::vector<tuner::Choice> choices;
  std::vector<tuner::Measurement> measurements;
};
/// Groups records into one entry per key, in the order of the records' places.
[[nodiscard]] std::vector<CacheEntry> entries_of(std::vector<tuner::Record> records);

}  // namespace padlock::session
