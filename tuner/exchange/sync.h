#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/error.h"
#include "tuner/cache/store_file.h"
#include "tuner/exchange/exchange.h"

namespace padlock::tuner {

struct Synced {
  std::int64_t written = 0;           ///< records that the file lacked, or had in an older form
  std::int64_t parsed = 0;            ///< lines of exports that were not byte for byte in the file
  std::vector<std::string> problems;  ///< failures to reach, read or write, with reasons
};

/// Takes records from the exchange that the file lacks or has in an older form. Leaves one export there with all
/// records of both, and removes the exports that it contains. So no record is lost, whenever writers end, however many
/// there are, and in any order: two caches that meet have the same records. An export whose text does not match its
/// name, or with a line that is no record, is skipped and stays. A failure at the exchange is a problem, never an
/// error: the file keeps what was received. Errors: as StoreFile.
[[nodiscard]] Result<Synced> sync(StoreFile& file, CacheExchange& exchange);

}  // namespace padlock::tuner
