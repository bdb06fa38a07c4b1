#include "tuner/cache/merge.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>

namespace padlock::tuner {
namespace {

bool comes_before(const Row* a, const Row* b) { return a->place() < b->place(); }

/// Sorts by place. Takes linear time if the records come in a few sorted runs, as in caches and exports.
void sort_runs(std::vector<Row*>& list) {
  std::vector<std::ptrdiff_t> ends = {0};
  for (std::size_t i = 1; i <= list.size(); ++i)
    if (i == list.size() || comes_before(list[i], list[i - 1])) ends.push_back(static_cast<std::ptrdiff_t>(i));
  while (ends.size() > 2) {
    std::vector<std::ptrdiff_t> merged = {0};
    for (std::size_t i = 2; i < ends.size(); i += 2) {
      std::inplace_merge(list.begin() + ends[i - 2], list.begin() + ends[i - 1], list.begin() + ends[i], comes_before);
      merged.push_back(ends[i]);
    }
    if (merged.back() != ends.back()) merged.push_back(ends.back());
    ends = std::move(merged);
  }
}

/// Returns whether `wrong` holds for no two neighbours.
template <class Compare>
bool is_sorted(const std::vector<Row>& rows, const Compare& wrong) {
  return std::ranges::adjacent_find(
             rows, [&wrong](const Row& a, const Row& b) { return wrong(a.place(), b.place()); }) == rows.end();
}

std::vector<Row*> order_of(std::vector<Row>& rows) {
  std::vector<Row*> order;
  order.reserve(rows.size());
  for (Row& row : rows) order.push_back(&row);
  sort_runs(order);
  return order;
}

}  // namespace

bool supersedes(const Row& incoming, const Row& existing) {
  if (incoming.date() != existing.date()) return incoming.date() > existing.date();
  return incoming.line() > existing.line();
}

std::vector<Row> merge(std::vector<Row> rows) {
  if (is_sorted(rows, std::greater_equal())) return rows;
  std::vector<Row> merged;
  merged.reserve(rows.size());
  for (Row* const row : order_of(rows)) {
    if (merged.empty() || merged.back().place() != row->place())
      merged.push_back(std::move(*row));
    else if (supersedes(*row, merged.back()))
      merged.back() = std::move(*row);
  }
  return merged;
}

std::vector<Row> in_order(std::vector<Row> rows) {
  if (is_sorted(rows, std::greater())) return rows;
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (Row* const row : order_of(rows)) sorted.push_back(std::move(*row));
  return sorted;
}

Difference difference(std::vector<Row> left, std::vector<Row> right) {
  left = merge(std::move(left));
  Difference difference;
  auto mine = left.begin();
  const auto keep_before = [&](const Row& end) {
    for (; mine != left.end() && mine->place() < end.place(); ++mine) difference.only_left.push_back(std::move(*mine));
  };
  for (Row& theirs : merge(std::move(right))) {
    keep_before(theirs);
    if (mine == left.end() || mine->place() != theirs.place())
      difference.only_right.push_back(std::move(theirs));
    else if (!(*mine++ == theirs))
      difference.changed.push_back(std::move(theirs));
  }
  difference.only_left.insert(difference.only_left.end(), std::make_move_iterator(mine),
                              std::make_move_iterator(left.end()));
  return difference;
}

}  // namespace padlock::tuner
