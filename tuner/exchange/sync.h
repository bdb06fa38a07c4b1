#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/error.h"
#include "tuner/cache/store_file.h"
#include "tuner/exchange/exchange.h"

namespace padlock::tuner {

struct Synced {
  std::int64_t written = 0;           ///< records that were new to the file, or later than its own
  std::int64_t parsed = 0;            ///< lines of exports that the file did not have, byte by byte
  std::vector<std::string> problems;  ///< what could not be reached, read or written, and why
};

/// Takes records from the exchange that the file lacks or has in an older form. Leaves one export there with all
/// records of both, and removes the exports that it contains. So nothing that was there is lost whenever a writer ends,
/// how many there are, and in which order they come: two caches that meet so have the same records. Of an export whose
/// text is not what its name says, or in which a line is no record, nothing is taken, and it stays. What fails at the
/// exchange is a problem, never an error: the file has what could be had. Errors: as StoreFile.
[[nodiscard]] Result<Synced> sync(StoreFile& file, CacheExchange& exchange);

}  // namespace padlock::tuner
