#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/row_set.h"
#include "tuner/cache/rows.h"

namespace padlock::tuner {

/// Returns whether a record's key is of this build: of its revisions, its LLVM and its way of measuring. Another
/// build's records are of no use to this one, in any match.
[[nodiscard]] bool is_of_build(const KeyFields& recorded, const KeyFields& build);

/// Says of each row whether its record serves nobody: it is of another build than `build` (describe_build), of a key
/// that is not there, dated before `before` ("2026-01-31", empty: none is), or a key of which nothing else is left. The
/// rows were looked at.
[[nodiscard]] std::vector<bool> stale_rows(std::span<const Row> rows, const KeyFields& build, std::string_view before);

/// Pruned holds what of a cache serves nobody.
struct Pruned {
  std::size_t records = 0;            ///< good ones of the cache, with these
  std::vector<Row> stale;             ///< in the order of their places
  std::vector<std::string> problems;  ///< what of the cache is bad, and stays
};
/// Moves those out of a cache's rows that are stale.
[[nodiscard]] Pruned take_stale(RowSet set, const std::vector<bool>& stale);

}  // namespace padlock::tuner
