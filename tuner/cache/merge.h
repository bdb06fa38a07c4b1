#pragma once

#include <vector>

#include "tuner/cache/record.h"

namespace padlock::tuner {

/// Returns whether `incoming` takes the place of `existing`, of one place: the later one does and, of one date, the one
/// whose line is greater. A total order, so that merging gives the same in any order and any number of times.
[[nodiscard]] bool supersedes(const Record& incoming, const Record& existing);

/// One record a place, in the order of the places.
[[nodiscard]] std::vector<Record> merge(std::vector<Record> records);

/// How two sets differ, by place; each list in the order of the places.
struct Difference {
  std::vector<Record> only_left, only_right;
  std::vector<Record> changed;  ///< as on the right
};
[[nodiscard]] Difference difference(std::vector<Record> left, std::vector<Record> right);

}  // namespace padlock::tuner
