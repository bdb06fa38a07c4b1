#pragma once

#include <cstdint>
#include <span>

#include "support/error.h"
#include "tuner/cache/database.h"
#include "tuner/cache/record.h"

namespace padlock::tuner {

/// Conflict says what becomes of a record where the file has one of the same place.
enum class Conflict : std::uint8_t {
  replace,     ///< the new one stays
  keep_later,  ///< as merge.h says
};

// Each is one transaction on a cache's table: all of it or nothing. Errors as Database's.

/// As StoreFile::put.
[[nodiscard]] Result<std::int64_t> put_rows(Database& database, std::span<const Record> records, Conflict conflict);
/// As StoreFile::erase. What is most of many rows goes in one piece, and the few that stay are put back.
[[nodiscard]] Result<std::int64_t> erase_rows(Database& database, std::span<const Place> places);

}  // namespace padlock::tuner
