#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/row_set.h"
#include "tuner/cache/rows.h"

namespace padlock::tuner {

/// Returns whether a record's key is of this build: its revisions, its LLVM and its way of measuring. Another build's
/// records are useless to this one, in any match.
[[nodiscard]] bool is_of_build(const KeyFields& recorded, const KeyFields& build);

/// Returns for each row whether its record is useless: another build than `build` (describe_build), a missing key, a
/// date before `before` ("2026-01-31"; empty: no limit), or a key without other records. The rows are checked.
[[nodiscard]] std::vector<bool> stale_rows(std::span<const Row> rows, const KeyFields& build, std::string_view before);

/// Pruned holds the useless records of a cache.
struct Pruned {
  std::size_t records = 0;            ///< good records of the cache, these included
  std::vector<Row> stale;             ///< in the order of their places
  std::vector<std::string> problems;  ///< damage found in the cache, which stays there
};
/// Moves the stale rows out of a cache's rows.
[[nodiscard]] Pruned take_stale(RowSet set, const std::vector<bool>& stale);

}  // namespace padlock::tuner
