#include "tuner/cache/merge.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "tuner/cache/record_text.h"

namespace padlock::tuner {
namespace {

const std::string& date_of(const KeyFields& fields) { return fields.date; }
const std::string& date_of(const Choice& choice) { return choice.provenance.date; }
const std::string& date_of(const Measurement& measurement) { return measurement.provenance.date; }

const std::string& date_of(const Record& record) {
  return std::visit([](const auto& content) -> const std::string& { return date_of(content); }, record.content);
}

bool comes_before(const Record* a, const Record* b) { return compare_places(*a, *b) < 0; }

/// Sorts by place, in time that is linear in the records where those come in a few sorted runs, as caches and exports
/// do.
void sort_runs(std::vector<Record*>& list) {
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

bool is_merged(const std::vector<Record>& records) {
  return std::ranges::adjacent_find(
             records, [](const Record& a, const Record& b) { return compare_places(a, b) >= 0; }) == records.end();
}

}  // namespace

bool supersedes(const Record& incoming, const Record& existing) {
  if (date_of(incoming) != date_of(existing)) return date_of(incoming) > date_of(existing);
  return !(incoming == existing) && to_line(incoming) > to_line(existing);
}

std::vector<Record> merge(std::vector<Record> records) {
  if (is_merged(records)) return records;
  std::vector<Record*> order;
  order.reserve(records.size());
  for (Record& record : records) order.push_back(&record);
  sort_runs(order);
  std::vector<Record> merged;
  merged.reserve(records.size());
  for (Record* const record : order) {
    if (merged.empty() || compare_places(merged.back(), *record) != 0)
      merged.push_back(std::move(*record));
    else if (supersedes(*record, merged.back()))
      merged.back() = std::move(*record);
  }
  return merged;
}

Difference difference(std::vector<Record> left, std::vector<Record> right) {
  left = merge(std::move(left));
  Difference difference;
  auto mine = left.begin();
  const auto keep_before = [&](const Record& end) {
    for (; mine != left.end() && compare_places(*mine, end) < 0; ++mine)
      difference.only_left.push_back(std::move(*mine));
  };
  for (Record& theirs : merge(std::move(right))) {
    keep_before(theirs);
    if (mine == left.end() || compare_places(*mine, theirs) != 0)
      difference.only_right.push_back(std::move(theirs));
    else if (!(*mine++ == theirs))
      difference.changed.push_back(std::move(theirs));
  }
  difference.only_left.insert(difference.only_left.end(), std::make_move_iterator(mine),
                              std::make_move_iterator(left.end()));
  return difference;
}

}  // namespace padlock::tuner
