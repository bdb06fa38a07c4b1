#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/error.h"
#include "tuner/cache/database.h"
#include "tuner/cache/record.h"
#include "tuner/cache/row_set.h"

namespace padlock::tuner {

/// Conflict decides between a new record and the file's record of the same place.
enum class Conflict : std::uint8_t {
  replace,     ///< the new one stays
  keep_later,  ///< as merge.h says
};

// Each must run in a transaction on a cache's table. Errors as Database's.

/// As StoreFile::put.
[[nodiscard]] Result<std::int64_t> put_records(Database& database, std::span<const Record> records, Conflict conflict);
[[nodiscard]] Result<std::int64_t> put_rows(Database& database, std::span<const Row> rows, Conflict conflict);
/// Removes the stale rows (stale_rows) of the table; `set` has all its rows. If most rows go, it clears the table and
/// puts the others back.
[[nodiscard]] Status erase_rows(Database& database, const RowSet& set, const std::vector<bool>& stale);

}  // namespace padlock::tuner
