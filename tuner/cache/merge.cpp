#include "tuner/cache/merge.h"

#include <algorithm>
#include <map>
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

using ByPlace = std::map<Place, Record>;

ByPlace by_place(std::vector<Record> records) {
  ByPlace places;
  for (Record& record : records) {
    const auto [position, added] = places.try_emplace(place_of(record), std::move(record));
    if (!added && supersedes(record, position->second)) position->second = std::move(record);
  }
  return places;
}

}  // namespace

bool supersedes(const Record& incoming, const Record& existing) {
  if (date_of(incoming) != date_of(existing)) return date_of(incoming) > date_of(existing);
  return to_line(incoming) > to_line(existing);
}

std::vector<Record> merge(std::vector<Record> records) {
  std::vector<Record> merged;
  for (auto& [place, record] : by_place(std::move(records))) merged.push_back(std::move(record));
  return merged;
}

Difference difference(std::vector<Record> left, std::vector<Record> right) {
  ByPlace of_left = by_place(std::move(left));
  Difference difference;
  for (auto& [place, record] : by_place(std::move(right))) {
    const auto found = of_left.find(place);
    if (found == of_left.end()) {
      difference.only_right.push_back(std::move(record));
      continue;
    }
    if (!(found->second == record)) difference.changed.push_back(std::move(record));
    of_left.erase(found);
  }
  for (auto& [place, record] : of_left) difference.only_left.push_back(std::move(record));
  return difference;
}

}  // namespace padlock::tuner
