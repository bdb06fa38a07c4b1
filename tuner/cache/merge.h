#pragma once

#include <vector>

#include "tuner/cache/rows.h"

// Rows here are checked (Row::check).
namespace padlock::tuner {

/// Returns whether `incoming` replaces `existing`, which has the same place. The later date wins, then the greater
/// line. This order is total, so merging in any order and any number of times gives the same.
[[nodiscard]] bool supersedes(const Row& incoming, const Row& existing);

/// Keeps one row per place, in the order of the places.
[[nodiscard]] std::vector<Row> merge(std::vector<Row> rows);
/// Sorts rows by place; rows of one place keep their order.
[[nodiscard]] std::vector<Row> in_order(std::vector<Row> rows);

/// How two sets differ, by place; each list in the order of the places.
struct Difference {
  std::vector<Row> only_left, only_right;
  std::vector<Row> changed;  ///< the right side's rows
};
[[nodiscard]] Difference difference(std::vector<Row> left, std::vector<Row> right);

}  // namespace padlock::tuner
