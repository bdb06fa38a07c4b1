#include "tuner/cache/prune.h"

#include <set>
#include <string>

namespace padlock::tuner {
namespace {

std::string_view date_of(const Record& record) {
  if (const auto* choice = std::get_if<Choice>(&record.content)) return choice->provenance.date;
  if (const auto* measurement = std::get_if<Measurement>(&record.content)) return measurement->provenance.date;
  return {};
}

bool is_key(const Record& record) { return std::holds_alternative<KeyFields>(record.content); }

}  // namespace

bool is_of_build(const KeyFields& recorded, const KeyFields& build) {
  return recorded.abi == build.abi && recorded.code == build.code && recorded.llvm == build.llvm &&
         recorded.policy == build.policy;
}

std::vector<Place> stale_places(const std::vector<Record>& records, const KeyFields& build, std::string_view before) {
  std::set<std::string> usable, needed;  // digests of keys
  for (const Record& record : records)
    if (is_key(record) && is_of_build(std::get<KeyFields>(record.content), build)) usable.insert(record.key);
  std::vector<Place> stale;
  for (const Record& record : records) {
    if (is_key(record)) continue;
    if (usable.contains(record.key) && date_of(record) >= before)
      needed.insert(record.key);
    else
      stale.push_back(place_of(record));
  }
  for (const Record& record : records)
    if (is_key(record) && !needed.contains(record.key)) stale.push_back(place_of(record));
  return stale;
}

}  // namespace padlock::tuner
