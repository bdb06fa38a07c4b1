#pragma once

#include <vector>

#include "tuner/cache/rows.h"

// Rows here are those that were looked at (Row::check).
namespace padlock::tuner {

/// Returns whether `incoming` takes the place of `existing`, of one place: the later one does and, of one date, the one
/// whose line is greater. A total order, so that merging gives the same in any order and any number of times.
[[nodiscard]] bool supersedes(const Row& incoming, const Row& existing);

/// One row a place, in the order of the places.
[[nodiscard]] std::vector<Row> merge(std::vector<Row> rows);
/// The rows in the order of their places; those of one place stay as they come.
[[nodiscard]] std::vector<Row> in_order(std::vector<Row> rows);

/// How two sets differ, by place; each list in the order of the places.
struct Difference {
  std::vector<Row> only_left, only_right;
  std::vector<Row> changed;  ///< as on the right
};
[[nodiscard]] Difference difference(std::vector<Row> left, std::vector<Row> right);

}  // namespace padlock::tuner
